"""Finding the meshes and textures that a description names, without ROS and without a network."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..arrays import shown
from ..errors import FileFormatError, ModelError
from ..model.geometry import Mesh
from ..model.robot import RobotModel

CLIMB = 2  # folders that a relative path may climb above the description when no package bounds it
# What an absolute path may name outside the search path, so that no description can point at any file of the machine.
SHAPES = frozenset(
    ".stl .obj .dae .ply .gltf .glb .fbx .usd .usda .usdc .usdz .off .wrl .x3d .iv .3ds .msh .mesh .vtk .step .stp "
    ".png .jpg .jpeg .tga .tif .tiff .bmp .gif .webp .exr .hdr .dds .ppm".split()
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")  # two letters or more: C: is a drive
_PACKAGE_NAME = re.compile(r"<name>\s*([^<\s]+)\s*</name>")


PackagePaths = str | os.PathLike | Iterable[str | os.PathLike]  # one folder or several


@dataclass(frozen=True)
class Resource:
    """`path` of the file found, or None and the folders that were `searched`."""

    path: str | None
    searched: tuple[str, ...] = ()


class ResourceFinder:
    """Finds what one description names, as a local file.

    package://P/rest and model://P/rest: the package P is a folder of that name, or one whose package.xml names P,
    in (or equal to) one of `package_paths`, the folders around the description, and the entries of ROS_PACKAGE_PATH,
    AMENT_PREFIX_PATH, GAZEBO_MODEL_PATH, GZ_SIM_RESOURCE_PATH, in this order. When none has that name, a folder that
    contains `rest` serves: clones are often renamed.
    file:///path and absolute paths: the file itself, anywhere if its name is that of a mesh or a picture. Relative
    paths: from the description's folder, then the folders above it in its package, then `package_paths`.
    """

    def __init__(self, description: str | os.PathLike, package_paths: PackagePaths = ()) -> None:
        self.folder = Path(os.path.abspath(description)).parent
        given = [package_paths] if isinstance(package_paths, (str, os.PathLike)) else package_paths
        try:
            self.given = [Path(os.path.abspath(os.path.expanduser(p))) for p in given]
        except TypeError:
            raise ModelError(f"package paths must be folders, not {shown(package_paths)}") from None
        # The file system's root is left out: package://etc/passwd must find nothing.
        self.around = [folder for folder in (self.folder, *self.folder.parents) if folder != folder.parent]
        self.environment = list(_environment_folders())
        self._packages: dict[str, list[Path]] = {}
        self._found: dict[str, Resource] = {}

    def find(self, uri: str) -> Resource:
        """The file that `uri` means. ModelError for what no description may name: other schemes (http ...), network
        paths, paths that leave their package or the search path."""
        if uri not in self._found:
            self._found[uri] = self._find(uri)
        return self._found[uri]

    def _find(self, uri: str) -> Resource:
        if any(ord(c) < 32 for c in uri):
            raise ModelError(f"{uri!r} has control characters")
        plain = uri.replace("\\", "/")
        match = _SCHEME.match(plain)
        scheme = match.group(1).lower() if match else ""
        if scheme not in ("", "package", "model", "file"):
            raise ModelError(f"{uri!r}: {scheme}: is not accepted (valid: package://, model://, file://, a path)")
        rest = plain[match.end() :] if match else plain
        if scheme in ("package", "model"):
            return self._find_in_package(uri, rest.lstrip("/"))
        if scheme == "file":
            from urllib.parse import unquote

            rest = unquote(rest).replace("\\", "/")
            if any(ord(c) < 32 for c in rest):
                raise ModelError(f"{uri!r} has control characters")
            rest = re.sub(r"^//(localhost(?=/))?", "", rest)
            rest = re.sub(r"^/(?=[A-Za-z]:/)", "", rest)
        if rest.startswith("//"):
            raise ModelError(f"{uri!r} is a network path")
        return self._find_absolute(uri, rest) if _is_absolute(rest) else self._find_relative(uri, rest)

    def _find_absolute(self, uri: str, path: str) -> Resource:
        path = os.path.normpath(path)
        if not os.path.isfile(path):
            return Resource(None, (os.path.dirname(path),))
        bounds = [self._relative_bound(), *self.given, *self.environment]
        if os.path.splitext(path)[1].lower() not in SHAPES and not _within(path, bounds):
            raise ModelError(f"{uri!r} is outside the search path and neither a mesh nor a picture by its name")
        return Resource(path)

    def _find_relative(self, uri: str, rest: str) -> Resource:
        bounds = [self._relative_bound(), *self.given]
        if not any(_within(os.path.normpath(base / rest), bounds) for base in (self.folder, *self.given)):
            raise ModelError(
                f"{uri!r} leaves the search path ({bounds[0]}; Package Folders, or --package-path, add to it)"
            )
        bases = [f for f in self.around if _within(str(f), bounds[:1])] + self.given
        for base in bases:
            path = os.path.normpath(base / rest)
            if _within(path, bounds) and os.path.isfile(path):
                return Resource(path)
        return Resource(None, tuple(map(str, bases)))

    def _relative_bound(self) -> Path:
        """The package that holds the description, or some folders up where there is none."""
        for folder in self.around:
            if (folder / "package.xml").is_file():
                return folder
        return self.around[min(CLIMB, len(self.around) - 1)] if self.around else self.folder

    def _find_in_package(self, uri: str, rest: str) -> Resource:
        package, _, inside = rest.partition("/")
        inside = posixpath.normpath(inside.lstrip("/")) if inside else ""
        if package in ("", ".", "..") or inside in ("", ".", "..") or inside.startswith("../"):
            raise ModelError(f"{uri!r} names no file inside a package")
        if ":" in rest:  # joined to a folder on Windows, C:x is another drive
            raise ModelError(f"{uri!r}: a colon is not accepted inside a package")
        for folder in (*self._folders_of(package), *self.given, *self.around):
            path = os.path.join(folder, *inside.split("/"))
            if os.path.isfile(path):
                return Resource(path)
        searched = self._packages[package] or [*self.given, *self.around, *self.environment]
        return Resource(None, tuple(map(str, searched)))

    def package_folder(self, package: str) -> Path | None:
        """The folder of a package, the first one found; None when there is none."""
        folders = self._folders_of(package) if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", package) else []
        return next((folder for folder in folders if folder.is_dir()), None)

    def part(self, path: str, endings: tuple[str, ...]) -> str:
        """Path of a file that the description is made of, such as an include; "" when it is not there.

        ModelError for one that is no part of a robot by its ending, or outside the robot's folders: those around the
        description, as far as a relative path may climb, the given ones and the packages that were found.
        """
        path = os.path.normpath(path)
        if any(ord(c) < 32 for c in path):
            raise ModelError(f"{path!r} has control characters")
        if not path.lower().endswith(endings):
            raise ModelError(f"{path!r} is no part of a robot by its name (valid: {', '.join(endings)})")
        packages = [folder for found in self._packages.values() for folder in found]
        bounds = [self.folder, self._relative_bound(), *self.given, *self.environment, *packages]
        # Hidden folders hold what programs keep for themselves.
        inside = (path[len(str(b)) :] for b in bounds if _within(path, [b]))
        if not any(os.sep + "." not in rest for rest in inside):
            raise ModelError(
                f"{path!r} is outside the robot's folders (Package Folders, or --package-path, add to them)"
            )
        return path if os.path.isfile(path) else ""

    def _folders_of(self, package: str) -> list[Path]:
        if package not in self._packages:
            found = dict.fromkeys(self._package_folders(package))  # one may be named, and be below another
            self._packages[package] = list(found) or self._workspaces.get(package, [])
        return self._packages[package]

    def _package_folders(self, package: str) -> Iterator[Path]:
        for folder, names in self._named_folders:
            if package in names:
                yield folder
            if os.path.isdir(folder / package):
                yield folder / package

    # Folders are listed once, however many packages a description names.

    @cached_property
    def _named_folders(self) -> list[tuple[Path, set[str | None]]]:
        """Where packages are looked for, in order, and what each is called itself."""
        return [(f, {f.name, _package_name(f)}) for f in (*self.given, *self.around, *self.environment)]

    @cached_property
    def _workspaces(self) -> dict[str | None, list[Path]]:
        """Packages one or two folders below a given one, as in a workspace of repositories, by their names."""
        found: dict[str | None, list[Path]] = {}
        for folder in (*self.given, *self.environment):
            for below in (*_subfolders(folder), *(b for a in _subfolders(folder) for b in _subfolders(a))):
                for name in {below.name, _package_name(below)}:
                    found.setdefault(name, []).append(below)
        return found


def file_beside(file: str | os.PathLike, name: str, endings: tuple[str, ...]) -> str | None:
    """Path of a file that another one names (a mesh its picture), or None: only inside the package that holds it, or
    some folders up where there is none, and never on a network. Many files name a picture where its author had it:
    beside the file is the second place to look."""
    finder = ResourceFinder(file)
    plain = name.strip().replace("\\", "/")
    if plain.lower().startswith("file://"):
        from urllib.parse import unquote

        plain = unquote(plain[7:]).replace("\\", "/")
    last = plain.rpartition("/")[2]
    if any(ord(c) < 32 for c in plain) or ":" in last or not plain.lower().endswith(endings):
        return None
    wanted = [] if _SCHEME.match(plain) or _is_absolute(plain) else [os.path.normpath(finder.folder / plain)]
    for path in (*wanted, os.path.join(finder.folder, last)):
        if _within(path, [finder._relative_bound()]) and os.path.isfile(path):
            return path
    return None


def missing_meshes(model: RobotModel, visuals: bool = True, collisions: bool = True) -> list[FileFormatError]:
    """One error per mesh file that was not found, or may not be read, to report before meshes are imported."""
    missing: dict[str, FileFormatError] = {}
    for link in model.links:
        for geometry in (*(link.visuals if visuals else ()), *(link.collisions if collisions else ())):
            mesh = geometry.shape
            if isinstance(mesh, Mesh) and mesh.path is None and mesh.filename not in missing:
                path, line = (mesh.source.path, mesh.source.line) if mesh.source else (model.name, None)
                searched = ", ".join(mesh.searched[:6]) + (" ..." if len(mesh.searched) > 6 else "")
                problem = (
                    f"mesh {mesh.filename!r} not found (searched: {searched or 'nothing'}; "
                    "name its folder among the Package Folders, or with --package-path)"
                )
                if mesh.refused:
                    problem = f"mesh {mesh.refused}"
                missing[mesh.filename] = FileFormatError(path, line, problem)
    return list(missing.values())


def is_relative(uri: str) -> bool:
    """Whether a file is named relative to the description's folder."""
    plain = uri.strip().replace("\\", "/")
    return not _SCHEME.match(plain) and not _is_absolute(plain)


def _environment_folders() -> Iterator[Path]:
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH"):
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(entry) / "share" if variable == "AMENT_PREFIX_PATH" else Path(entry)


def _package_name(folder: Path) -> str | None:
    try:
        with open(folder / "package.xml", encoding="utf-8", errors="replace") as file:
            match = _PACKAGE_NAME.search(file.read(100_000))
    except (OSError, ValueError):  # ValueError: a null byte in the path
        return None
    return match.group(1) if match else None


def _subfolders(folder: Path) -> list[Path]:
    try:
        return sorted(Path(entry.path) for entry in os.scandir(folder) if entry.is_dir())
    except (OSError, ValueError):
        return []


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or bool(re.match(r"[A-Za-z]:", path))


def _within(path: str, folders: Iterable[Path]) -> bool:
    return any(path == str(f) or path.startswith(os.path.join(str(f), "")) for f in folders)
