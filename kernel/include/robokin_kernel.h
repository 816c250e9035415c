/* Robokin's kernel: kinematics, dynamics and inverse kinematics of a robot tree.

   Plain C11, no allocation, no globals, no I/O: every function works on what the caller passes in, so any number of
   threads may share one model. Units are SI and radians. Twists and wrenches are linear part first. Quaternions are
   w, x, y, z. A rigid placement is 12 doubles: the rotation row-major (9), then the translation (3).
   The arrays of rk_model are those of robokin/model/tree.py, field by field. */
#ifndef ROBOKIN_KERNEL_H
#define ROBOKIN_KERNEL_H

#include <stdint.h>

#if defined(_WIN32)
#define RK_API __declspec(dllexport)
#else
#define RK_API __attribute__((visibility("default")))
#endif

/* Raised whenever a struct or a signature changes in any header of this folder; checked by the loader. */
#define RK_ABI 33

/* The one place of the version: build.py reads it for the wheels and for the library's file name. */
#define RK_VERSION "0.1.0"

enum rk_motion { RK_ROTATION = 0, RK_TRANSLATION = 1, RK_HELICAL = 2, RK_BALL = 3, RK_FREE = 4 };

enum rk_reference { RK_WORLD = 0, RK_LOCAL = 1, RK_LOCAL_WORLD_ALIGNED = 2 };

/* The compiled tree (see robokin/model/tree.py for the meaning of each array). Not owned. */
typedef struct rk_model {
  int32_t n_nodes, n_frames, nq, nv;
  const int32_t *parent, *motion, *iq, *iv;   /* [n_nodes] */
  const double *placement;                    /* [n_nodes][12] */
  const double *pitch, *scale, *offset;       /* [n_nodes] */
  const double *inertia;                      /* [n_nodes][10] */
  const int32_t *frame_node;                  /* [n_frames], -1: fixed to the root frame */
  const double *frame_placement;              /* [n_frames][12] */
  const double *root_inertia;                 /* [10] */
  const double *lower, *upper;                /* [nq] */
} rk_model;

RK_API int32_t rk_abi(void);
RK_API int32_t rk_sizeof_model(void);

/* Doubles of workspace that every function of this header finds sufficient. */
RK_API int64_t rk_workspace(const rk_model *model);

/* Every function below works on `count` configurations that lie one behind the other, q[count][nq], and writes its
   results likewise. Arrays do not overlap. Quaternions in q are of unit length. With count = 1 and a workspace of its
   own per thread, any number of calls may run at once. */

/* T_root_node of every node: out[count][n_nodes][12]. */
RK_API void rk_node_placements(const rk_model *model, int64_t count, const double *q, double *out);

/* T_root_frame of every frame as 4x4 matrices: out[count][n_frames][16]. */
RK_API void rk_frame_placements(const rk_model *model, int64_t count, const double *q, double *work, double *out);

/* Twist of a frame = out @ v: out[count][6][nv], linear rows first.
   RK_WORLD: at the origin of the root frame, in its axes. RK_LOCAL: at the frame's origin, in the frame's axes.
   RK_LOCAL_WORLD_ALIGNED: at the frame's origin, in the axes of the root frame. */
RK_API void rk_frame_jacobian(const rk_model *model, int64_t count, const double *q, int32_t frame, int32_t reference,
                              double *work, double *out);

/* Centre of mass in the root frame, root_inertia included: out[count][3]; NaN for a massless robot. */
RK_API void rk_center_of_mass(const rk_model *model, int64_t count, const double *q, double *work, double *out);

/* Velocity of the centre of mass = out @ v: out[count][3][nv]; NaN for a massless robot. */
RK_API void rk_center_of_mass_jacobian(const rk_model *model, int64_t count, const double *q, double *work,
                                       double *out);

/* Joint-space inertia, composite rigid body algorithm: out[count][nv][nv], both triangles. */
RK_API void rk_mass_matrix(const rk_model *model, int64_t count, const double *q, double *work, double *out);

/* tau = M a + bias, recursive Newton-Euler algorithm; v, a, out: [count][nv]; gravity[3] in the root frame. */
RK_API void rk_inverse_dynamics(const rk_model *model, int64_t count, const double *q, const double *v,
                                const double *a, const double *gravity, double *work, double *out);

/* Derivatives out[count][6][nv][nv], by columns: of tau along displacements q (+) y and along v; of the gradients of
   z . tau along q, v and a, along displacements; and of that along v, along v. z[count][nv]. */
RK_API void rk_effort_derivatives(const rk_model *model, int64_t count, const double *q, const double *v,
                                  const double *a, const double *z, const double *gravity, double *work, double *out);

/* q (+) v, the configuration reached after moving with v for one second: v[count][nv], out[count][nq]. */
RK_API void rk_integrate(const rk_model *model, int64_t count, const double *q, const double *v, double *out);

/* The v with q0 (+) v = q1, the short way round: out[count][nv]. */
RK_API void rk_difference(const rk_model *model, int64_t count, const double *q0, const double *q1, double *out);

#endif
