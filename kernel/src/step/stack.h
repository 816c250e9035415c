/* Tasks in levels at a configuration: what they lack, and the step of the hierarchy. */
#ifndef RK_STACK_H
#define RK_STACK_H

#include "ik/ik_search.h"
#include "robokin_stack.h"

/* How many levels a problem has: 1 without a stack. */
static inline int64_t rk_stack_levels(const rk_ik *ik) { return ik->stack ? ik->stack->data->levels : 1; }

/* Doubles of workspace of a search with a stack; 0 without. */
int64_t rk_stack_workspace(const rk_ik *ik);

/* Before a frame that begins at from[nq]. */
void rk_stack_begin(const rk_search *s, const double *from);

/* rk_search_measure of a stack. */
double rk_stack_measure(const rk_search *s, int *met);

/* rk_search_hold of a stack, and whether what is held has what it had, up to this share of its tolerance. */
void rk_stack_hold(const rk_search *s);
int rk_stack_holds(const rk_search *s, double share);

/* x[nv] of the step between lo and hi, in the coordinates in which limits bound single ones. damping: of the last level
   that counts; negative: of each by its own error. */
void rk_stack_step(const rk_search *s, double damping);

#endif
