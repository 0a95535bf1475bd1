#!/usr/bin/env python3
"""Includes go down only. Fails with file:line and the rule for each include that breaks the layer table."""

import re
from pathlib import Path

import check_common

# Layer of each module folder. A file may include its own module and any lower layer; SIDEWAYS are the pairs that
# may include within a layer.
LAYERS = {
    "transport/base": 0, "transport/socket": 0, "transport/cuda": 0,
    "transport/interface": 1, "tensor": 1, "rendezvous": 1,
    "transport/match": 2, "transport/protocol": 2, "api/schedule": 2,
    "transport/inproc": 2, "transport/tcp": 2, "transport/fault": 2, "transport/shm": 2, "transport/cuda_ipc": 2,
    "transport/engine": 3,
    "api/wireup": 4,
    "api/nccl": 5, "api/collective": 5,
    "api": 6, "api/collectives": 6, "api/launch": 6, "api/asio": 6, "api/objects": 6,
    "tools/figures": 6, "tools": 7, "bench": 7, "tests": 7, "api/examples": 7,
}
SIDEWAYS = {
    ("transport/socket", "transport/base"), ("transport/cuda", "transport/base"),
    ("transport/protocol", "transport/match"), ("api/nccl", "api/collective"),
    ("api/collectives", "api"), ("api/launch", "api"), ("api/asio", "api"), ("api/objects", "api"),
    ("tests", "bench"), ("tests", "tools"),
}

# Modules that the layer alone would let see too much: all that they may include.
ONLY = {
    "transport/match": ({"transport/base", "transport/interface"}, "the matcher is a pure data structure"),
    "api/schedule": ({"transport/base"}, "a schedule is a pure function"),
    "api/asio": ({"api", "tensor", "rendezvous", "transport/base"}, "an adapter uses what a user can"),
    "api/objects": ({"api", "tensor", "rendezvous", "transport/base"}, "an adapter uses what a user can"),
    "tools/figures": (set(), "a drawing knows nothing of what it shows"),
    "api/examples": ({"api", "api/objects", "tensor", "rendezvous", "transport/base"}, "an example includes what a user can"),
}
LINKS = {"transport/inproc", "transport/tcp", "transport/fault", "transport/shm"}
# ... and what moves data beside a link.
CONCRETE = LINKS | {"transport/cuda_ipc"}

# Headers of other projects, by the first part of the path, and who may include them; a public header only in the
# folders that are there to join Parley with such a project, and are included by nothing else.
ADAPTERS = {"api/asio", "api/objects"}
ASIO = {"api/asio", "transport/socket", "transport/tcp", "rendezvous", "tests", "bench", "tools"}
CUDA = {"transport/cuda", "transport/cuda_ipc", "tensor", "api/nccl", "tests", "bench"}
PROGRAMS = {"tools", "tools/figures", "bench", "api/examples"}
FOREIGN = {
    "asio": ASIO, "asio.hpp": ASIO,
    "openssl": {"transport/socket", "tests"},
    "cuda.h": CUDA, "cuda_runtime.h": CUDA, "cuda_runtime_api.h": CUDA,
    "nccl.h": {"api/nccl", "tests", "bench"},
    "nlohmann": {"api/objects", "bench", "tests", "tools"},
    "CLI": PROGRAMS, "fmt": PROGRAMS,
    "gtest": {"tests"}, "gmock": {"tests"},
    "benchmark": {"bench"},
}
# A header that includes one of these may be included by the library's other folders in their .cc files only.
CONTAGIOUS = {"asio", "asio.hpp", "openssl", "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "nccl.h"}

STANDARD = set("""
algorithm any array atomic barrier bit bitset charconv chrono cmath compare complex concepts condition_variable
coroutine cstddef cstdint cstdio cstdlib cstring ctime deque exception filesystem forward_list fstream functional
future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory
memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator_adaptor
semaphore set shared_mutex span sstream stack stdexcept stop_token streambuf string string_view system_error thread
tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
DEPENDS = re.compile(r"parley_module\(\s*(\S+)(.*?)\)", re.DOTALL)
KEYWORDS = {"SOURCES", "PUBLIC_HEADERS", "DEPENDS", "PRIVATE_LINK", "APART"}


def reason_against(source, target):
    """Why a file of module `source` may not include module `target`; None if it may."""
    if source == target:
        return None
    if target in ADAPTERS and LAYERS[source] < 7:
        return "an adapter is for those who use it"
    if target in CONCRETE and source in CONCRETE:
        return "transports never include each other"
    if target in LINKS and LAYERS[source] < 7 and source != "api/wireup":
        return "only api/wireup names concrete transports"
    if source.startswith("transport/") and target in {"tensor", "rendezvous"}:
        return "the transport layers know neither tensor nor store"
    if source in ONLY and target not in ONLY[source][0]:
        return ONLY[source][1]
    if LAYERS[target] < LAYERS[source] or (source, target) in SIDEWAYS:
        return None
    return f"layer {LAYERS[source]} may not include layer {LAYERS[target]}"


class Tree:
    def __init__(self, root):
        self.root = root
        self.paths = check_common.sources(root)
        self.known = set(self.paths)
        self.public = {Path(*path.parts[path.parts.index("include") + 1:]): path
                       for path in self.paths if check_common.is_public_header(path)}
        self.includes = {path: list(self.read(path)) for path in self.paths}
        self.infected = self.spread()

    def read(self, path):
        for number, line in enumerate((self.root / path).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match[1], match[2]

    def resolve(self, name):
        """The file of this tree that an include names, or None."""
        path = Path(name)
        return self.public.get(path) or (path if path in self.known else None)

    def spread(self):
        """Headers through which a contagious foreign header comes in."""
        infected = {path for path in self.paths if path.suffix in {".h", ".cuh"}
                    and any(name.split("/")[0] in CONTAGIOUS for _, _, name in self.includes[path])}
        while True:
            more = {path for path in self.paths if path.suffix in {".h", ".cuh"} and path not in infected
                    and any(self.resolve(name) in infected for _, _, name in self.includes[path])}
            if not more:
                return infected
            infected |= more


def check_own(tree, path, line, name, target, findings):
    module, other = check_common.module_of(path), check_common.module_of(target)
    reason = reason_against(module, other)
    if reason:
        findings.add(path, line, f'"{name}": {module} may not include {other}: {reason}')
    elif check_common.is_public_header(path) and not check_common.is_public_header(target):
        findings.add(path, line, f'"{name}": a public header includes public headers only')
    elif target in tree.infected and module != other and path.suffix in {".h", ".cuh"} and LAYERS[module] < 7:
        findings.add(path, line, f'"{name}" brings in a foreign header: include it in a .cc file')


def check_foreign(path, line, name, findings):
    module, head = check_common.module_of(path), name.split("/")[0]
    if check_common.is_public_header(path) and module not in ADAPTERS:
        if name not in STANDARD:
            findings.add(path, line, f"<{name}>: a public header needs the C++ standard library only")
    elif head in FOREIGN and module not in FOREIGN[head]:
        findings.add(path, line, f"<{name}>: not for {module}; see FOREIGN in tools/check_layers.py")


def check_includes(tree, findings):
    for path in tree.paths:
        module = check_common.module_of(path)
        if module not in LAYERS:
            findings.add(path, 1, f"{module} is not in the layer table")
            continue
        for line, quote, name in tree.includes[path]:
            target = tree.resolve(name)
            if target and check_common.module_of(target) in LAYERS:
                if (quote == "<") != check_common.is_public_header(target):
                    findings.add(path, line, f"{name}: public headers as <parley/...>, others in quotes")
                check_own(tree, path, line, name, target, findings)
            elif quote == '"' or name.startswith("parley/"):
                findings.add(path, line, f"{name}: no such file (paths start at the root)")
            else:
                check_foreign(path, line, name, findings)


def declared(tree):
    """What each parley_module() says it depends on: module -> (CMake file, line, direct dependencies)."""
    modules = {}
    for path in check_common.files(tree.root, "CMakeLists.txt"):
        text = (tree.root / path).read_text()
        for match in DEPENDS.finditer(text):
            words, depends, keyword = match[2].split(), set(), None
            for word in words:
                if word in KEYWORDS:
                    keyword = word
                elif keyword == "DEPENDS":
                    depends.add(word)
            modules[match[1]] = (path, text[:match.start()].count("\n") + 1, depends)
    return modules


def closure(modules, module):
    seen, todo = set(), [module]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += modules[name][2] if name in modules else []
    return seen


def check_depends(tree, findings):
    """DEPENDS in CMake repeats the same law, and what is included is declared."""
    modules = declared(tree)
    for module, (path, line, depends) in modules.items():
        for other in sorted(depends):
            if module not in LAYERS or other not in LAYERS:
                findings.add(path, line, f"{module} DEPENDS {other}: not in the layer table")
            elif reason_against(module, other):
                findings.add(path, line, f"{module} DEPENDS {other}: {reason_against(module, other)}")
    for path in tree.paths:
        module = check_common.module_of(path)
        if module not in modules:
            continue
        allowed = closure(modules, module)
        for line, _, name in tree.includes[path]:
            target = tree.resolve(name)
            if target and check_common.module_of(target) not in allowed:
                findings.add(path, line, f"{name}: {check_common.module_of(target)} is missing in DEPENDS of {module}")


def main():
    root = check_common.arguments(__doc__).parse_args().root
    findings = check_common.Findings()
    tree = Tree(root)
    check_includes(tree, findings)
    check_depends(tree, findings)
    findings.exit("layers", len(tree.paths))


if __name__ == "__main__":
    main()
