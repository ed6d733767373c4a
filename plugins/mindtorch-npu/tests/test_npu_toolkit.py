"""Finding a toolkit: made-up trees in all layouts, and what is said of those that cannot be used."""

import os
import platform
from pathlib import Path

import pytest

from mindtorch_npu import acl_loader, toolkit
from mindtorch_npu.toolkit import search

MACHINE = platform.machine()
OTHER = "aarch64" if MACHINE == "x86_64" else "x86_64"


@pytest.fixture
def system(tmp_path):
    place = tmp_path / "usr/local/Ascend"
    place.mkdir(parents=True)
    return place


def install(root, libraries="lib64", names=("libascendcl.so",), **files):
    """Make a tree that looks like a toolkit."""
    directory = root / libraries
    directory.mkdir(parents=True)
    for name in names:
        (directory / name).write_bytes(b"")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def used(system, **env):
    """The toolkit that a search chooses."""
    return next((c.toolkit for c in search(env, system) if c.toolkit), None)


def test_the_environment_comes_first_in_its_order(tmp_path, system):
    install(system / "ascend-toolkit/8.1.RC1")
    home = install(tmp_path / "home")
    path = install(tmp_path / "path")
    opp = install(tmp_path / "opp_of")
    (opp / "opp").mkdir()
    env = {"ASCEND_OPP_PATH": str(opp / "opp")}
    assert used(system, **env).root == opp
    env["ASCEND_HOME_PATH"] = str(path)
    assert used(system, **env).root == path
    env["ASCEND_TOOLKIT_HOME"] = str(home)
    found = used(system, **env)
    assert (found.root, found.source) == (home, "ASCEND_TOOLKIT_HOME")


def test_an_environment_that_names_nothing_is_told_and_passed_over(tmp_path, system):
    install(system / "ascend-toolkit/8.1.RC1")
    first, second = search({"ASCEND_TOOLKIT_HOME": str(tmp_path / "gone")}, system)
    assert (first.toolkit, first.reason) == (None, "there is no such directory")
    assert second.toolkit.root == system / "ascend-toolkit/8.1.RC1"


def test_default_places_newest_version_first(tmp_path, system):
    home = tmp_path / "home"
    for root in (
        system / "ascend-toolkit/8.1.RC1",
        system / "ascend-toolkit/8.1.RC1.beta1",
        system / "ascend-toolkit/8.0.0",
        system / "cann-8.5.0",
        home / "Ascend/ascend-toolkit/8.3.RC2",
        home / "Ascend/ascend-toolkit/8.3",
        home / "Ascend/cann-9.1.0.alpha001",
        system / "cann-9.1.0",
    ):
        install(root)
    found = [c.path.name for c in search({"HOME": str(home)}, system)]
    assert found == [
        "cann-9.1.0", "cann-9.1.0.alpha001", "cann-8.5.0", "8.3", "8.3.RC2", "8.1.RC1", "8.1.RC1.beta1",
        "8.0.0",
    ]  # fmt: skip


@pytest.mark.parametrize("link", ["cann", "ascend-toolkit/latest"])
def test_a_link_alone_is_enough(tmp_path, system, link):
    (system / link).parent.mkdir(exist_ok=True)
    (system / link).symlink_to(install(tmp_path / "elsewhere"))
    assert used(system).root == system / link


def test_a_link_to_a_version_is_no_second_place(system):
    root = install(system / "ascend-toolkit/8.1.RC1")
    (system / "ascend-toolkit/latest").symlink_to(root)
    assert [c.path for c in search({}, system)] == [root]


def test_nothing_installed_names_the_places(tmp_path, system):
    places = search({"HOME": str(tmp_path)}, system)
    assert [c.path for c in places] == [system, tmp_path / "Ascend"]
    assert [c.reason for c in places] == [
        "it has no lib64/libascendcl.so",
        "there is no such directory",
    ]


def test_libraries_in_the_directory_of_the_architecture(tmp_path, system):
    root = install(tmp_path / "t", f"{MACHINE}-linux/lib64")
    found = used(system, ASCEND_TOOLKIT_HOME=str(root))
    assert found.library("libascendcl.so") == root / f"{MACHINE}-linux/lib64/libascendcl.so"
    assert found.library("libopapi.so") is None


def test_operators_are_found_in_the_operator_package(tmp_path, system):
    root = install(tmp_path / "t")
    package = root / "opp/built-in/op_impl/ai_core/tbe/op_api/lib/linux" / MACHINE
    install(package, ".", ("libopapi.so", "libopapi_nn.so", "libopapi_math.so"))
    found = used(system, ASCEND_TOOLKIT_HOME=str(root))
    assert found.library("libopapi.so") == package / "libopapi.so"
    assert [p.name for p in found.libraries("libopapi_*.so")] == [
        "libopapi_math.so",
        "libopapi_nn.so",
    ]


def test_the_other_architecture_is_refused(tmp_path, system):
    root = install(tmp_path / "t", f"{OTHER}-linux/lib64")
    (place,) = search({"ASCEND_TOOLKIT_HOME": str(root)}, system)[:1]
    assert place.toolkit is None
    assert place.reason == f"its libraries are for {OTHER}, this machine is {MACHINE}"


@pytest.mark.parametrize("name", ["x" * 300, "y/" * 3000])
def test_what_cannot_be_read_is_passed_over(tmp_path, system, name):
    install(system / "ascend-toolkit/8.1.RC1")
    first, second = search({"ASCEND_TOOLKIT_HOME": str(tmp_path / name)}, system)
    assert (first.toolkit, first.reason) == (None, "it cannot be read: File name too long")
    assert second.toolkit is not None


def test_what_may_not_be_read_is_passed_over(tmp_path, system, monkeypatch):
    root = install(tmp_path / "private")

    def refuse(path):
        if path.is_relative_to(root / "lib64"):
            raise PermissionError(13, "Permission denied")
        return True

    monkeypatch.setattr(Path, "is_file", refuse)
    first = search({"ASCEND_TOOLKIT_HOME": str(root)}, system)[0]
    assert (first.toolkit, first.reason) == (None, "it cannot be read: Permission denied")


def test_stubs_are_refused(tmp_path, system):
    stubs = install(tmp_path / "t/devlib")
    only = install(tmp_path / "u", "devlib")
    linked = tmp_path / "v"
    linked.mkdir()
    (linked / "lib64").symlink_to(only / "devlib")
    for root, reason in (
        (stubs, "is a stub to link against (directory 'devlib')"),
        (only, "it has stubs to link against only"),
        (linked, "is a stub to link against (directory 'devlib')"),
    ):
        place = search({"ASCEND_TOOLKIT_HOME": str(root)}, system)[0]
        assert place.toolkit is None
        assert reason in place.reason


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (f"{MACHINE}-linux/ascend_toolkit_install.info", "package_name=toolkit\nversion=8.3.RC1\n"),
        ("include/version/cann_version.h", '#define CANN_VERSION_STR "8.3.RC1"\n'),
        ("opp/version.info", "Version=7.7.0.1.238\nversion_dir=8.3.RC1\n"),
        ("version.cfg", "# version: 1.0\nruntime_running_version=[7.7.0.1.238:8.3.RC1]\n"),
        ("version.cfg", "# version: 1.0\nruntime_running_version=[8.3.RC1]\n"),
    ],
)
def test_the_version_is_that_of_the_release(tmp_path, system, file, text):
    root = install(tmp_path / "cann", **{file: text})
    assert used(system, ASCEND_TOOLKIT_HOME=str(root)).version == "8.3.RC1"


def test_the_version_may_be_in_the_directory_or_nowhere(tmp_path, system):
    root = install(tmp_path / "cann-8.5.0")
    assert used(system, ASCEND_TOOLKIT_HOME=str(root)).version == "8.5.0"
    root = install(tmp_path / "mine")
    assert used(system, ASCEND_TOOLKIT_HOME=str(root)).version == "unknown"


# ---- loading, where it fails -----------------------------------------------------------------------


@pytest.fixture
def fresh(monkeypatch, tmp_path, system):
    """A loader that has loaded nothing, and an environment of its own."""
    monkeypatch.setattr(acl_loader, "_loaded", None)
    monkeypatch.setattr(acl_loader, "_opened", ())
    monkeypatch.setattr(acl_loader, "search", lambda environ=None: search(environ, system))
    for name in (*toolkit.VARIABLES, "ASCEND_AICPU_PATH"):
        # Set first, so that what loading sets is taken back too.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    return monkeypatch


def test_no_toolkit_says_where_it_looked_and_what_to_do(fresh, system):
    assert acl_loader.find() is None
    with pytest.raises(acl_loader.ToolkitNotFoundError, match="no usable CANN toolkit") as caught:
        acl_loader.load()
    text = str(caught.value)
    assert str(system) in text
    assert "set_env.sh" in text
    assert "mindtorch doctor npu" in text
    assert isinstance(caught.value, RuntimeError)
    report = acl_loader.report()
    assert report.toolkit is None
    assert report.opened == ()


def test_a_failure_is_not_remembered(fresh, tmp_path, system):
    with pytest.raises(acl_loader.ToolkitNotFoundError):
        acl_loader.load()
    install(tmp_path / "t")
    fresh.setenv("ASCEND_TOOLKIT_HOME", str(tmp_path / "t"))
    with pytest.raises(acl_loader.ToolkitLoadError, match=r"libascendcl\.so .*cannot be loaded"):
        acl_loader.load()  # an empty file is no library
    (opened,) = [o for o in acl_loader.report().opened if o.name == "libascendcl.so"]
    assert opened.required
    assert not opened.loaded
    assert opened.error


def test_what_is_missing_is_named_with_the_cure(fresh, tmp_path):
    root = install(tmp_path / "t", names=())
    (root / "lib64/libascendcl.so").symlink_to(_a_library())
    fresh.setenv("ASCEND_HOME_PATH", str(root))
    with pytest.raises(
        acl_loader.ToolkitLoadError, match=r"libnnopbase\.so .*no such file"
    ) as caught:
        acl_loader.load()
    assert "install the whole toolkit" in str(caught.value)
    (root / "lib64/libnnopbase.so").symlink_to(_a_library())
    with pytest.raises(acl_loader.ToolkitLoadError, match=r"libopapi\.so .*no such file"):
        acl_loader.load()
    report = acl_loader.report()
    states = {o.name: (o.loaded, o.error, o.required) for o in report.opened}
    assert states["libascendcl.so"] == (True, "", True)
    assert states["libplatform.so"] == (False, "no such file", False)


def test_the_new_layout_needs_no_front(fresh, tmp_path):
    root = install(tmp_path / "t", names=())
    for name in ("libascendcl.so", "libnnopbase.so", "libopapi_nn.so", "libopapi_math.so"):
        (root / "lib64" / name).symlink_to(_a_library())
    (root / "opp").mkdir()
    fresh.setenv("ASCEND_TOOLKIT_HOME", str(root))
    fresh.setenv("ASCEND_HOME_PATH", "")  # as good as not set
    libraries = acl_loader.load()
    assert acl_loader.load() is libraries
    assert libraries.function("cos") is not None
    assert libraries.function("aclnnAddGetWorkspaceSize") is None
    names = [o.name for o in libraries.opened if o.loaded]
    assert names == ["libascendcl.so", "libnnopbase.so", "libopapi_math.so", "libopapi_nn.so"]
    assert os.environ["ASCEND_OPP_PATH"] == str(root / "opp")
    assert os.environ["ASCEND_HOME_PATH"] == str(root)


def test_the_driver_is_opened_first_where_it_lies_beside_the_toolkit(fresh, tmp_path):
    root = install(tmp_path / "Ascend/ascend-toolkit/8.1.RC1", names=())
    for name in (
        "libascendcl.so",
        "libnnopbase.so",
        "libopapi.so",
        "libascend_protobuf.so.3.13.0.0",
    ):
        (root / "lib64" / name).symlink_to(_a_library())
    driver = tmp_path / "Ascend/driver/lib64/driver"
    driver.mkdir(parents=True)
    (driver / "libascend_hal.so").symlink_to(_a_library())
    fresh.setenv("ASCEND_TOOLKIT_HOME", str(root))
    acl_loader.load()
    opened = [o for o in acl_loader.report().opened if o.loaded]
    assert opened[0].path == driver / "libascend_hal.so"
    assert [o.name for o in opened[1:]] == [
        "libascend_protobuf.so.3.13.0.0", "libascendcl.so", "libnnopbase.so", "libopapi.so",
    ]  # fmt: skip


def test_a_missing_driver_is_named_as_the_cause(fresh, tmp_path):
    error = "libascend_hal.so: cannot open shared object file: No such file or directory"
    fresh.setattr(acl_loader.ctypes, "CDLL", lambda *_, **__: (_ for _ in ()).throw(OSError(error)))
    install(tmp_path / "t")
    fresh.setenv("ASCEND_TOOLKIT_HOME", str(tmp_path / "t"))
    with pytest.raises(acl_loader.ToolkitLoadError, match="install the Ascend driver") as caught:
        acl_loader.load()
    assert caught.value.problem.endswith(f"cannot be loaded: {error}.")


def test_the_front_is_asked_before_the_parts(fresh, tmp_path):
    root = install(tmp_path / "t", names=())
    for name in ("libascendcl.so", "libnnopbase.so", "libopapi.so", "libaclnn_math.so"):
        (root / "lib64" / name).symlink_to(_a_library())
    fresh.setenv("ASCEND_TOOLKIT_HOME", str(root))
    order = [library._name.rpartition("/")[2] for library in acl_loader.load().operators]
    assert order == ["libopapi.so", "libaclnn_math.so"]


def test_stub_libraries_are_not_loaded(fresh, tmp_path):
    root = install(tmp_path / "t", names=("libnnopbase.so",))
    stub = tmp_path / "driver/stub"
    stub.mkdir(parents=True)
    (stub / "libplatform.so").symlink_to(_a_library())
    copy = stub / "libm.so"
    copy.write_bytes(_a_library().read_bytes())
    (root / "lib64/libascendcl.so").symlink_to(_a_library())
    (root / "lib64/libplatform.so").symlink_to(copy)
    fresh.setenv("ASCEND_TOOLKIT_HOME", str(root))
    with pytest.raises(acl_loader.ToolkitLoadError):
        acl_loader.load()
    (platform_library,) = [o for o in acl_loader.report().opened if o.name == "libplatform.so"]
    assert "a stub to link against (directory 'stub')" in platform_library.error


def test_an_inconsistent_environment_is_warned_of(fresh, tmp_path):
    root, other = install(tmp_path / "t"), install(tmp_path / "u")
    fresh.setenv("ASCEND_TOOLKIT_HOME", str(root))
    fresh.setenv("ASCEND_HOME_PATH", str(other))
    fresh.setenv("ASCEND_OPP_PATH", str(other / "opp"))
    fresh.setenv("LD_LIBRARY_PATH", f"/x/lib:{root}/runtime/lib64/stub")
    warnings = acl_loader.report().warnings
    assert [w.split(" ")[0] for w in warnings] == [
        "LD_LIBRARY_PATH",
        "ASCEND_HOME_PATH",
        "ASCEND_OPP_PATH",
    ]


def _a_library():
    """Any shared library of the machine."""
    with Path("/proc/self/maps").open() as maps:
        paths = {line.split()[-1] for line in maps if "/libm.so" in line or "/libm-" in line}
    assert paths, "the process has loaded no libm"
    return Path(min(paths))
