/* Pieces of the caller's workspace, one behind the other; without one their sizes are added up only. */
#ifndef RK_ARENA_H
#define RK_ARENA_H

#include <stdint.h>

typedef struct rk_arena {
  double *base; /* null: none */
  int64_t used;
} rk_arena;

static inline double *rk_take(rk_arena *arena, int64_t count) {
  double *own = arena->base ? arena->base + arena->used : 0;
  arena->used += count;
  return own;
}

static inline int32_t *rk_take_integers(rk_arena *arena, int64_t count) {
  return (int32_t *)rk_take(arena, (count + 1) / 2);
}

#endif
