"""Open every page of a built site in a browser, and use what can be used: `nox -s site-browser`.

    python docs/site/browser.py build/site                        check
    python docs/site/browser.py build/site --pictures FOLDER      and keep pictures of some pages

It drives the machine's Chromium through Playwright, and serves the site itself; nothing else is reached.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDTHS: Final = (1280, 390)
PATIENCE: Final = 180_000  # milliseconds: a busy machine is no fault of a page's
PICTURES: Final = ("index", "start", "which_kernels", "ops", "benchmarks", "api/torch", "api/optim")


class Silent(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address under which a folder is served while the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def expect(holds: object, what: str) -> None:
    """Fail with words."""
    if not holds:
        raise RuntimeError(what)


# ---- every page ---------------------------------------------------------------------------------


def opened(browser: Browser, width: int) -> Page:
    """A new page that waits as long as the machine needs."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(PATIENCE)
    return page


def faults_of(browser: Browser, address: str, path: str, width: int) -> list[str]:
    """What is wrong with a page as it is opened: errors, requests elsewhere or in vain, overflow."""
    page = opened(browser, width)
    found: list[str] = []
    page.on("console", lambda m: found.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("requestfailed", lambda r: found.append(f"{r.url} failed"))
    page.on(
        "request",
        lambda r: None if r.url.startswith((address, "data:")) else found.append(f"asks {r.url}"),
    )
    page.on("response", lambda r: found.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    page.goto(f"{address}/{path}", wait_until="networkidle")
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        found.append(f"is {wide} wide")
    page.close()
    return [f"{path} at {width}: {each}" for each in dict.fromkeys(found)]


# ---- what can be used ---------------------------------------------------------------------------


def visible_rows(page: Page) -> list[str]:
    """Texts of the rows of tables that are shown."""
    return page.locator("article tbody tr:visible").all_inner_texts()


def check_tables(page: Page, address: str) -> None:
    """The field above the tables of ops."""
    page.goto(f"{address}/ops.html")
    every = page.locator("article tbody tr").count()
    expect(every > 1000, f"only {every} ops")
    page.fill(".filter input", "Softmax backward")
    rows = visible_rows(page)
    expect(0 < len(rows) < 20, f"{len(rows)} rows for two words")
    expect(
        all("softmax" in r.lower() and "backward" in r.lower() for r in rows), "a row does not fit"
    )
    expect(page.inner_text(".filter output") == f"{len(rows)} of {every}", "the count is wrong")
    shared = page.url
    page.fill(".filter input", "no such words")
    expect(not visible_rows(page), "rows for what is nowhere")
    page.goto(shared)
    expect(visible_rows(page) == rows, "the address does not keep the filter")
    page.wait_for_load_state("load")
    below = page.locator("article > h2:visible").first.bounding_box()
    expect(below and below["y"] < 400, "sections without rows leave gaps")
    page.fill(".filter input", "")
    expect(len(visible_rows(page)) == every, "not all rows come back")


def check_functions(page: Page, address: str) -> None:
    """The field above the list of functions, and links to one of them."""
    page.goto(f"{address}/api/torch.html")
    every = page.locator("h2.entry").count()
    page.fill(".filter input", "logsumexp")
    shown = page.locator("h2.entry:visible").all_inner_texts()
    expect(0 < len(shown) < 10 < every, f"{len(shown)} of {every} functions shown")
    expect(any("torch.logsumexp" in text for text in shown), f"logsumexp is not among {shown}")
    page.goto(f"{address}/api/torch.html#torch.matmul")
    expect(page.locator("[id='torch.matmul']").is_visible(), "no place for torch.matmul")


def check_picture(page: Page, address: str) -> None:
    """The picture of calls: what runs for some choices."""
    page.goto(f"{address}/which_kernels.html")

    def runs() -> list[str]:
        return page.locator("#picture li.runs b").all_inner_texts()

    def choose(op: str, device: str, *circumstances: str) -> list[str]:
        page.select_option("#picture select[name=op]", op)
        page.select_option("#picture select[name=device]", device)
        for box in page.locator("#picture input").all():
            box.set_checked(box.get_attribute("name") in circumstances)
        return runs()

    wanted = {
        ("add", "cpu"): ["CPU"],
        ("add", "cpu", "requires_grad"): ["AutogradCPU", "CPU"],
        ("add", "cpu", "requires_grad", "no_grad"): ["CPU"],
        ("mul", "cpu", "requires_grad", "pipeline"): ["AutogradCPU", "Pipeline", "CPU"],
        ("mm", "cpu", "autocast"): ["AutocastCPU", "CPU"],
        ("add", "meta"): ["Meta"],
    }
    for choice, keys in wanted.items():
        found = choose(*choice)
        expect(found == keys, f"{choice} runs {found}, not {keys}")
    expect(not choose("add", "a new backend, without kernels"), "a kernel where there is none")
    expect(page.locator("#picture .error").is_visible(), "no error where there is no kernel")


def check_surroundings(page: Page, address: str) -> None:
    """The search, and the switch to dark colours and back."""
    page.goto(f"{address}/index.html")
    before = page.get_attribute("body", "data-md-color-scheme")
    page.locator("label[for^=__palette]:visible").first.click()
    after = page.get_attribute("body", "data-md-color-scheme")
    expect({before, after} == {"default", "slate"}, f"colours {before}, {after}")
    page.fill(".md-search__input", "logsumexp")
    page.wait_for_selector(".md-search-result__link:visible", timeout=20_000)


TRACED: Final = """\
import mindtorch_core as torch

with torch.profiler.record_function("</script><img src=x onerror=alert(1)><!--<script>"):
    x = torch.ones(512, 512) * 2
with torch.pipeline():
    y = x.exp() + 1
    if y.sum().item() > 0:
        y = y / 2
"""


def check_trace(page: Page, address: str) -> None:
    """The page that `mindtorch trace` writes: at each width, with names that want to be more than text."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(TRACED, encoding="utf-8")
        command = [sys.executable, "-m", "mindtorch_core", "trace", "--no-open", "train.py"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        found: list[str] = []
        page.on("dialog", lambda d: (found.append(d.message), d.dismiss()))
        page.on("console", lambda m: found.append(m.text))
        page.on("pageerror", lambda error: found.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith("file:") else found.append(r.url))
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(Path(folder, "trace.html").as_uri())
            wide = page.evaluate("document.documentElement.scrollWidth")
            expect(wide <= width, f"is {wide} wide at {width}")
            page.locator("#flushes tbody tr").first.click()
            expect("if y.sum().item() > 0:" in page.inner_text("#detail"), "no line of the flush")
            page.fill("#find", "<!--<script>")
            expect(page.inner_text("#found") == "1 event", "the named block is not found")
            page.press("#find", "Enter")
            expect("onerror=alert" in page.inner_text("#detail"), "the block's name is not shown")
            expect(page.locator("#graphs svg").count() == 1, "no graph")
        expect(not found, "; ".join(found))


CHECKS: Final = (check_tables, check_functions, check_picture, check_surroundings, check_trace)


def outcome(check: Callable[[Page, str], None], browser: Browser, address: str) -> list[str]:
    """Why a check fails; nothing if it does not."""
    page = opened(browser, WIDTHS[0])
    try:
        check(page, address)
    except Exception as error:  # noqa: BLE001 - Playwright's errors too are findings
        return [f"{check.__name__}: {error}"]
    finally:
        page.close()
    return []


def draw(browser: Browser, address: str, folder: Path) -> None:
    """Keep pictures of some pages, at each width, and of one in dark colours."""
    folder.mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": width, "height": 1000}, color_scheme=scheme
            )
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            for name in PICTURES if scheme == "light" else PICTURES[2:5]:
                page.goto(f"{address}/{name}.html", wait_until="networkidle")
                page.screenshot(path=folder / f"{name.replace('/', '_')}-{width}-{scheme}.png")
            context.close()


def main(arguments: list[str]) -> int:
    """Check a site; 1 if something is wrong with it."""
    parser = argparse.ArgumentParser(description="Check a built site in a browser.")
    parser.add_argument("site", type=Path, help="folder of the built site")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="keep pictures of pages")
    parser.add_argument("--browser", default=next(filter(None, map(shutil.which, BROWSERS)), None))
    options = parser.parse_args(arguments)
    if options.browser is None:
        parser.error(
            f"no browser on the path: {', '.join(BROWSERS)}; install one or give --browser"
        )
    paths = sorted(p.relative_to(options.site).as_posix() for p in options.site.rglob("*.html"))
    if len(paths) < 30:
        parser.error(f"{options.site} holds {len(paths)} pages: build the site first")
    with served(options.site) as address, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=options.browser, args=["--no-sandbox"])
        faults = [f for c in CHECKS for f in outcome(c, browser, address)]
        faults += [f for p in paths for w in WIDTHS for f in faults_of(browser, address, p, w)]
        if options.pictures:
            draw(browser, address, options.pictures)
        browser.close()
    print("\n".join([*faults, f"{len(paths)} pages, {len(CHECKS)} uses, {len(faults)} faults"]))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
