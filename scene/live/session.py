"""One robot that follows its targets: what is kept of it between two updates, and one step of following.

Nothing of Blender's is kept but numbers: undo and loading replace all data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...properties.bridge import Binding, PoseArrays, binding, binding_held
from ...properties.bridge.parents import with_parents
from ...properties.results.result_text import scaled_lengths
from ...properties.results.stored_results import clear_result, store_bake_result, store_result
from ...properties.results.why import Why
from ...properties.task_kinds import KINDS, TaskContext
from ...properties.task_kinds.tip_links import follow_renamed_bones
from ...properties.tasks import RobokinTask
from ...robokin import RobokinError
from ...robokin.arrays import Array, farthest
from ...scene.animation.auto_keys import auto_key
from ...scene.criteria.solver_criteria import enabled_criteria
from ...scene.obstacle_shapes import AwaitedError
from ...scene.posing.solve import ending
from ...scene.surroundings import Watch
from ...scene.tasks.ad_hoc import Place
from ...scene.tasks.shown_shapes import shown_shape
from ...solvers import ClearanceTask, IKProblem, SolveResult, Task
from ...solvers.posing.clear import ClearFollower
from ...solvers.posing.follow import ATTEMPTS, ITERATIONS, TargetFollower
from ...solvers.tasks.protocols import is_counted_from_start
from ..tasks.memory import Faded, fading, read_memory, stand_there, write_memory
from .drag import Drag
from .inputs import Read, Worlds, kept_worlds, read_fields, read_lists, read_scene, read_worlds
from .residuals import LiveResiduals
from .root_frame import RootFrame

SAME = 1e-6  # [rad, m] coordinates that would move by less stay: the pose is what it was
STANDS = 1e-5  # the same of a robot with a residual, which creeps towards its least
ALIKE = 1e-4  # relative, and [rad] or Blender units: a robot from a file or undo with the same residual stays
NOT_BAKED = (1, 0)
KEPT = 4  # problems of tasks that have come and gone

TaskWorlds = Mapping[str, Array]  # (4, 4) world matrices of what a task follows, by the property that names it


@dataclass(frozen=True)
class Event:
    """What an update is about. moved: the world matrix (4, 4) of a place that hangs on a robot which was posed in this
    update, before Blender has computed it; None of any other.   touched, actions: session_uids of armatures with their
    objects, and of actions, that were changed themselves.   is_anew: the scene was, or updates were missed.   is_frame:
    of another frame.   is_dragging: a transform is running."""

    scene: bpy.types.Scene
    depsgraph: bpy.types.Depsgraph
    moved: Callable[[Place], Array | None]
    touched: Set[int] = frozenset()
    actions: Set[int] = frozenset()
    is_anew: bool = False
    is_frame: bool = False
    is_dragging: bool = False


class Session:
    """problem: why the robot cannot follow; "" when it can.   awaits: whether it soon can, if it looks again.
    is_searched: the pose and its result are those of a search, which looks farther than following does."""

    def __init__(self) -> None:
        self.problem = ""
        self.awaits = False
        self.is_searched = False
        self.robot: Binding | None = None
        self.q: Array | None = None  # as it was read last, or written
        self.residuals: LiveResiduals | None = None  # of the pose `q`
        self._pose: PoseArrays | None = None
        self._read: Read | None = None  # what was followed last
        self._root: tuple[bytes, RootFrame] | None = None
        self._follower: TargetFollower | None = None
        self._descents: dict[tuple, tuple[TargetFollower, list[Task]]] = {}
        self._drag: tuple[Read, Array, Drag] | None = None  # where a running transform began
        self._baked: tuple[int, ...] = NOT_BAKED
        self._watch = Watch()

    # -- looking -------------------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Undo, or a file, has brought back another pose with all that it follows from."""
        self.q, self._drag = None, None

    def stand(self, q: Array) -> None:
        """Nothing is to be followed from q (nq,), which a search has found and written, before something changes."""
        self.q, self.residuals, self.is_searched = q, None, True

    def look(self, obj: bpy.types.Object, event: Event) -> bool:
        """Follow, where anything has changed; whether a pose was written."""
        try:
            is_anew = event.is_anew or self.q is None
            is_touched = is_anew or not event.touched.isdisjoint((obj.session_uid, obj.data.session_uid))
            with binding_held(obj, self._bound(obj, is_touched)):
                is_posed = self._look(obj, event, bool(is_anew or event.touched or event.is_frame))
            self.problem, self.awaits = "", False
            return is_posed
        except RobokinError as error:
            self.awaits = isinstance(error, AwaitedError)
            if str(error) != self.problem:
                self.problem = str(error)
                clear_result(obj)
            self._read = self.q = self.residuals = None
            return False

    def _bound(self, obj: bpy.types.Object, is_touched: bool) -> Binding:
        """The binding; it is looked at anew only where the armature was touched."""
        if self.robot is not None and not is_touched:
            return self.robot
        known = binding(obj)
        if known is not self.robot:
            self.robot, self._pose, self._root, self._read, self.q = known, None, None, None, None
            self._descents.clear()
        elif self._pose is not None and self._pose.names != obj.pose.bones.keys():
            self._pose = None
        return known

    def _look(self, obj: bpy.types.Object, event: Event, is_anew: bool) -> bool:
        """is_anew: what was read of the robot does not hold."""
        assert self.robot is not None
        before, last = self._read, self.q
        every = obj.robokin.tasks
        if is_anew or last is None or before is None or before.fields.lists != read_lists(obj):
            fields, q = read_fields(obj, self.robot), self._arrays(obj).read(obj)
        else:
            fields, q = before.fields, last
        tasks = [every[i] for i in fields.followed]
        places = fields.places(tasks)
        worlds = read_worlds(event.scene, event.depsgraph, obj, tasks, places)
        worlds |= {place: now for place in worlds if (now := event.moved(place)) is not None}
        around = None
        if fields.avoids:

            def moved(owner: bpy.types.Object) -> Array | None:
                return worlds[owner, ""] if (owner, "") in worlds else event.moved((owner, ""))

            around = self._watch.look(event.scene, obj, self.robot, moved)
        read = Read(fields, read_scene(obj, fields, tasks), kept_worlds(worlds), around)
        is_posed = last is not None and q is not last and farthest(q, last) > SAME
        if last is not None and not is_posed and read.is_as(before) and not self._edited_keys(obj, worlds, event):
            self._read = read
            return self._end_drag(obj, read, event)
        self.residuals, self.is_searched = None, False
        if self._shows_bake(obj, event, read, worlds):
            self._read, self.q = read, q
            return False
        if before is None or read.problem != before.problem:
            follow_renamed_bones(obj, self.robot)
        is_dragged = event.is_dragging and before is not None and last is not None
        if is_dragged and self._drag is None:
            self._drag = before, last, Drag(obj, event.scene, self.robot)
        self._read = read
        if self._end_drag(obj, read, event):
            return True
        self._look_from(obj, worlds[obj, ""])
        task_worlds = [{name: worlds[place] for name, place in own.items()} for own in places]
        result = self._followed(obj, tasks, task_worlds, q, event.is_frame)
        is_still = result is None or farthest(result.q, q) <= (SAME if result.converged else STANDS)
        is_restored = last is None and self.robot.model.limits.contain(q, SAME)
        if is_still or (is_restored and not result.converged and self._is_as_near(q, result)):
            self.q = q
            return False
        self._write(obj, result.q)
        if last is not None and not event.is_frame:
            auto_key(bpy.context, obj, self.robot)
        return True

    def _is_as_near(self, q: Array, result: SolveResult) -> bool:
        """Whether a pose misses the targets by as much as what was solved for them does."""
        assert self._follower is not None
        return np.allclose(self._follower.residuals(q), result.residual_array, ALIKE, ALIKE)

    def _shows_bake(self, obj: bpy.types.Object, event: Event, read: Read, worlds: Worlds) -> bool:
        """Whether the robot is shown as it was baked: until its tasks, its targets or their keys are changed."""
        first, final = baked = tuple(obj.robokin.baked_frames)
        if final < first:
            return False
        is_new, self._baked = baked != self._baked, baked
        is_changed = not (event.is_frame or self.q is None or read.is_as(self._read))
        if not is_new and (is_changed or self._edited_keys(obj, worlds, event)):
            obj.robokin.baked_frames = NOT_BAKED
            return False
        if not first <= event.scene.frame_current_final <= final:
            return False
        store_bake_result(obj, event.scene.frame_current_final)
        return True

    def _edited_keys(self, obj: bpy.types.Object, worlds: Worlds, event: Event) -> bool:
        """Whether keys of the robot, or of what its tasks follow, were edited since it was baked."""
        first, final = obj.robokin.baked_frames
        if final < first or not event.actions or self.q is None:
            return False
        owners = {owner.session_uid: owner for place, _ in worlds for owner in with_parents(place)}
        datas = [owner.animation_data for owner in owners.values()]
        return any(data is not None and data.action and data.action.session_uid in event.actions for data in datas)

    def _end_drag(self, obj: bpy.types.Object, read: Read, event: Event) -> bool:
        """Where a transform was cancelled, all is again as it was; whether a pose was written."""
        if self._drag is None:
            return False
        began, q, drag = self._drag
        is_back = read.is_as(began)
        if not event.is_dragging:
            self._drag = None
        if not is_back or (not event.is_dragging and drag.is_confirmed()):
            return False
        drag.put_back(obj)
        self.residuals = None
        self._write(obj, q)
        return True

    def _write(self, obj: bpy.types.Object, q: Array) -> None:
        self.q = self._arrays(obj).write(obj, q)
        if obj.robokin.live_memory:
            assert self.robot is not None
            stand_there(obj, self.robot.model, self.q)

    def _arrays(self, obj: bpy.types.Object) -> PoseArrays:
        if self._pose is None:
            assert self.robot is not None
            self._pose = PoseArrays(obj, self.robot)
        return self._pose

    def _look_from(self, obj: bpy.types.Object, world: Array) -> None:
        """The robot's object stands at a world matrix (4, 4)."""
        assert self.robot is not None
        own = world.tobytes()
        if self._root is None or self._root[0] != own:
            self._root = own, RootFrame(obj, self.robot, world)

    # -- following -----------------------------------------------------------------------------------------------------

    def _followed(
        self,
        obj: bpy.types.Object,
        tasks: Sequence[RobokinTask],
        task_worlds: Sequence[TaskWorlds],
        q: Array,
        is_frame: bool,
    ) -> SolveResult | None:
        """The pose that is asked for now, written where the panel reads it; None when nothing is. is_frame: of
        another frame."""
        contexts = self._task_contexts(obj, tasks, task_worlds)
        counting = [one for one in contexts if one.influence > 0.0]
        if not counting:
            clear_result(obj)
            return None
        descent, wanted = self._descent(obj, counting, q)
        result, self._follower = self._solved(obj, descent, counting, q, is_frame), descent
        own, reason = (
            [one.task for one in counting],
            scaled_lengths(result.reason, self.robot.metres_per_unit / counting[0].unit)
            + ending(self._read.fields.left_out, self.robot, result),
        )
        blocking = () if result.converged else descent.blocking(result.q)
        blamed = Why(blocking, result.tasks)
        store_result(obj, str(result.status), reason, own, wanted, result.residual_array, counting[0].unit, blamed)
        places = [i for i, one in zip(self._read.fields.followed, contexts, strict=True) if one.influence > 0.0]
        unit, residuals = counting[0].unit, result.residual_array
        self.residuals = LiveResiduals(self._read.fields, self._read.worlds, places, wanted, residuals, unit)
        return result

    def _task_contexts(
        self, obj: bpy.types.Object, tasks: Sequence[RobokinTask], task_worlds: Sequence[TaskWorlds]
    ) -> list[TaskContext]:
        assert self._root is not None and self._read is not None
        frame, fields = self._root[1], self._read.fields
        found = []
        for task, own, numbers, level, share in zip(
            tasks, task_worlds, fields.numbers, fields.levels, fields.shares, strict=True
        ):
            reading = frame.reading(obj, task, own, numbers, shown_shape(obj, task))
            found.append(TaskContext(obj, self.robot, task, reading, 0, frame.unit, level, share))
        return found

    def _descent(
        self, obj: bpy.types.Object, counting: Sequence[TaskContext], q: Array
    ) -> tuple[TargetFollower, list[Task]]:
        """Made once for tasks and criteria as they are set, and where joints with a padlock are."""
        assert self.robot is not None and self._root is not None and self._read is not None
        model = self.robot.model
        locked_q = tuple(q[model.slot(name).q].tobytes() for name in self.robot.locked)
        around = self._read.around
        margin = 0.0 if around is None else obj.robokin.solver.collision_margin * self._root[1].unit
        apart = () if around is None else (around.collisions, margin)
        counts = tuple(share > 0.0 for share in self._read.fields.shares)
        key = self._read.problem, counts, self._root[1].unit, locked_q, apart
        found = self._descents.get(key)
        if found is None:
            whole = [replace(one, influence=1.0) for one in counting]
            wanted = [KINDS[one.task.kind].build(one, KINDS[one.task.kind].target_at(one)) for one in whole]
            criteria = enabled_criteria(obj)
            problem = IKProblem(self.robot.model_at(q), wanted, criteria, attempts=ATTEMPTS, iterations=ITERATIONS)
            if len(self._descents) >= KEPT:
                del self._descents[next(iter(self._descents))]
            follower = TargetFollower(problem)
            if around is not None:
                follower = ClearFollower(problem, ClearanceTask(around.collisions, margin), ATTEMPTS, ITERATIONS)
            found = self._descents[key] = follower, wanted
        if around is not None and isinstance(found[0], ClearFollower):
            found[0].obstacles = around.placements
        return found

    def _solved(
        self, obj: bpy.types.Object, descent: TargetFollower, counting: Sequence[TaskContext], q: Array, is_frame: bool
    ) -> SolveResult:
        tasks, shares = descent.problem.tasks, [one.influence for one in counting]
        targets = [KINDS[one.task.kind].target_at(one) for one in counting]
        names = fading(tasks, shares)
        if not names and not any(map(is_counted_from_start, tasks)) and not obj.robokin.live_memory:
            return descent.solve(targets, q)
        problem, memory = descent.problem, read_memory(obj, descent.problem.model)
        counted = [i for i, task in enumerate(tasks) if is_counted_from_start(task)]
        memory.origins = {tasks[i].name: memory.origins.get(tasks[i].name, q) for i in counted}
        for i in counted:
            targets[i] = problem.resolve_target(i, targets[i], memory.origins[tasks[i].name])
        if not names:
            memory.shown = None
            write_memory(obj, memory)
            return descent.solve(targets, q)
        last = memory.shown.q if is_frame and memory.shown is not None else q
        start = memory.without_at(last, names)
        without = descent.without(targets, q if start is None else start, shares)
        memory.shown = Faded(names, q, without)
        write_memory(obj, memory)
        return descent.solve(targets, q, shares, without)
