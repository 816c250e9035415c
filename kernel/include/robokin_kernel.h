/* Robokin's kernel: kinematics, dynamics and inverse kinematics of a robot tree.

   Plain C11, no allocation, no globals, no I/O: every function works on what the caller passes in, so any number of
   threads may share one model. Units are SI and radians. Twists and wrenches are linear part first. Quaternions are
   w, x, y, z. A rigid placement is 12 doubles: the rotation row-major (9), then the translation (3).
   The arrays of rk_model are those of robokin/tree.py, field by field. */
#ifndef ROBOKIN_KERNEL_H
#define ROBOKIN_KERNEL_H

#include <stdint.h>

#if defined(_WIN32)
#define RK_API __declspec(dllexport)
#else
#define RK_API __attribute__((visibility("default")))
#endif

/* Raised whenever a struct or a signature below changes; checked by the loader. */
#define RK_ABI 1

enum rk_motion { RK_ROTATION = 0, RK_TRANSLATION = 1, RK_HELICAL = 2, RK_BALL = 3, RK_FREE = 4 };

enum rk_reference { RK_WORLD = 0, RK_LOCAL = 1, RK_LOCAL_WORLD_ALIGNED = 2 };

/* The compiled tree (see robokin/tree.py for the meaning of each array). Not owned. */
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

#endif
