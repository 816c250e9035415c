/* All postures of arms with closed-form inverse kinematics (docs/families.md). Conventions as in robokin_kernel.h. */
#ifndef ROBOKIN_FAMILIES_H
#define ROBOKIN_FAMILIES_H

#include "robokin_kernel.h"

/* The values are those of Kind and Arm in solvers/families/family.py. */
enum rk_family_kind {
  RK_SPHERICAL_WRIST = 0, /* six turning joints, the last three axes meet */
  RK_THREE_PARALLEL = 1,  /* six turning joints, axes 2, 3, 4 parallel, or 1, 2, 3 */
  RK_SPHERICAL_BOTH = 2,  /* seven turning joints, the first three axes meet, and the last three */
  RK_PLANAR = 3,          /* two or three turning joints with parallel axes, and a slide along them or none */
  RK_GANTRY = 4           /* three slides, and up to three turning joints */
};

/* How the first three joints of RK_SPHERICAL_WRIST place the wrist. */
enum rk_arm {
  RK_ARM_PARALLEL = 0,     /* axes 2 and 3 are parallel */
  RK_ARM_INTERSECTING = 1, /* axes 1 and 2 meet */
  RK_ARM_GENERAL = 2
};

enum { RK_CHAIN = 7, RK_POSTURES = 8 };

/* Bits of a posture's branch. */
enum {
  RK_SHOULDER = 1, RK_ELBOW = 2, RK_WRIST = 4, /* the other one of two solutions */
  RK_ROOT = 8,                                 /* times 0 to 3: which of four solutions */
  RK_CONTINUUM = 64                            /* one of a continuum of postures */
};

/* Bits that describe a set of postures. */
enum {
  RK_HIDDEN = 1,  /* a continuum was seen of which no posture inside the limits was found */
  RK_DOUBTFUL = 2 /* a posture of the ideal geometry did not lead to one of the robot, or only after a search */
};

/* A family member: Family in solvers/families/family.py, field by field. Chain order: from the root to the tip. Solving
   order: the reverse of it when `reversed`, with axes negated. All vectors in root axes with the joints at zero, points
   counted from `centre`. */
typedef struct rk_family {
  int32_t kind, arm, joints;
  int32_t reversed;
  int32_t mirrored;    /* of the arm: solved from the wrist to the root */
  int32_t outer_last;  /* RK_THREE_PARALLEL: axes 1, 2, 3 are parallel */
  int32_t meets;       /* RK_THREE_PARALLEL: the two joints behind the parallel ones have axes that meet */
  int32_t oriented;    /* the target's rotation counts */
  int32_t slides;      /* bit i: joint i of the solving order is a slide; chain_slides: of the chain order */
  int32_t chain_slides;
  double axis[RK_CHAIN][3], point[RK_CHAIN][3]; /* of the robot, in chain order */
  double h[RK_CHAIN][3], o[RK_CHAIN][3];        /* ideal, in solving order */
  double side[RK_CHAIN][3];                     /* unit, at right angles to h */
  double home[12];                              /* of the tip at zero, counted from centre */
  double centre[3];
  double size;                                  /* [m] of the chain */
  double off;                                   /* [rad, sizes] of the robot's geometry from the ideal one */
  double lower[RK_CHAIN], upper[RK_CHAIN];      /* in chain order */
  double tolerance[2];                          /* [m], [rad] within which a posture meets its target */
} rk_family;

RK_API int32_t rk_sizeof_family(void);

/* All postures for each of `count` targets[count][16], 4x4 row-major, inside the limits; each turn the nearest to
   q0[count][joints], sorted by their distance from it. found[count][2]: how many, and what is told of them. Of
   q[count][RK_POSTURES][joints] and branch[count][RK_POSTURES] the first so many are written. */
RK_API void rk_postures(const rk_family *family, int64_t count, const double *targets, const double *q0, double *q,
                        int32_t *branch, int32_t *found);

#endif
