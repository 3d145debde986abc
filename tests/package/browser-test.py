#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The report in a browser: on a phone and on a wide screen, in the light and in the dark."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"

sys.path.insert(0, str(TOP / "python"))
import scaleacross  # noqa: E402
from scaleacross.report import __main__ as report  # noqa: E402

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
except ModuleNotFoundError:
    webdriver = None

ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage"]
SCREENS = [(400, "light"), (400, "dark"), (1000, "light"), (1400, "light"), (1600, "light"),
           (1600, "dark")]
# Colours of the page in the light and in the dark, as page.css has them.
PAGE = {"light": "rgb(244, 246, 248)", "dark": "rgb(15, 19, 23)"}
MARKUP = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def browser_in(folder):
    """Chromium that leaves all that it writes in a folder."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in (*ARGUMENTS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    home = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder),
            "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    return webdriver.Chrome(options=options,
                            service=Service(shutil.which("chromedriver"), env=home))


def mesh_of(count):
    """Buildings with long names, each joined to all others."""
    names = [f"campus-{n:02d}-{'north' if n % 2 else 'south'}-hall" for n in range(count)]
    return {
        "study": "mesh", "model": {"name": "tiny", "layers": 4, "hidden": 1024, "heads": 16,
                                   "head_dim": 64, "dense_ffn": 4096, "vocabulary": 8192},
        "workload": {"sequence": 1024, "global_batch": 8 * count},
        "cluster": {"buildings": [{"name": name, "gpus": 8, "gpu": "h100"} for name in names],
                    "links": [{"between": [a, b], "distance": f"{10 + n}km", "capacity": "400Gbps"}
                              for n, a in enumerate(names) for b in names[n + 1:]]},
        "plan": {"tp": 8, "sharding": "ddp"}, "search": {"plan": {"tp": [4, 8]}}, "baselines": [],
        "engines": ["analytical"]}


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
            if os.environ.get("CI"):
                raise RuntimeError("chromium, chromium-driver or python3-selenium is missing")
            raise unittest.SkipTest("chromium, chromium-driver or python3-selenium is missing")
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.browser = browser_in(cls.folder)
        cls.addClassCleanup(cls.browser.quit)
        cls.pages = {"sweep": cls.page_of("sweep", sweep={
            "cluster.cross.oversubscription": [1, 16]}), "map": cls.page_of("map", sweep={
                "cluster.cross.distance": ["1km", "300km"],
                "cluster.cross.oversubscription": [1, 16]})}
        db = cls.folder / "run.db"
        scaleacross.run(STUDY, db=db)
        cls.pages["run"] = cls.write(db)
        cls.pages["categories"] = cls.page_of("categories", pareto="time,memory", sweep={
            "cluster.buildings.gpu": ["h100", "b200"]})
        cls.pages["robust"] = cls.page_of("robust", robust=True, given={
            "uncertain.distance": {"values": ["1x", "10x"], "shares": [0.9, 0.1]}})
        mesh = cls.folder / "mesh.db"
        scaleacross.explore(mesh_of(32), db=mesh)
        cls.pages["mesh"] = cls.write(mesh)

    @classmethod
    def page_of(cls, name, given=None, **options):
        db = cls.folder / f"{name}.db"
        scaleacross.explore(STUDY, db=db, set={"engines": ["analytical"], **(given or {})}, **options)
        return cls.write(db, "--search", "1")

    @classmethod
    def write(cls, db, *words):
        out = db.with_suffix(".html")
        with contextlib.redirect_stdout(io.StringIO()):
            assert report.main([str(db), "-o", str(out), *words]) == 0
        return out

    def look(self, path, width, scheme):
        """Opens a page; its charts are drawn when this is back."""
        tell = self.browser.execute_cdp_cmd
        tell("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        tell("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.browser.get_log("browser")
        self.browser.get_log("performance")
        self.browser.get(path.as_uri())
        self.wait(scheme)

    def ask(self, script, *arguments):
        return self.browser.execute_script("return " + script, *arguments)

    def wait(self, scheme):
        until = time.monotonic() + 20
        while not self.ask("[...document.querySelectorAll('.chart')].every(place => "
                           "place.dataset.drawn === `${arguments[0]} ${place.clientWidth}`)", scheme):
            self.assertLess(time.monotonic(), until, "charts are not drawn")
            time.sleep(0.02)

    def tip(self):
        return self.ask("document.getElementById('tip').hidden ? null : "
                        "document.getElementById('tip').innerText")

    def hover(self, mark):
        """What the page says of a mark under the pointer."""
        # Scrolling hides a tooltip; its event comes with the next frame.
        self.browser.execute_async_script(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'});"
            "requestAnimationFrame(() => requestAnimationFrame(arguments[1]))", mark)
        ActionChains(self.browser, duration=0).move_to_element(mark).perform()
        until = time.monotonic() + 5
        while self.tip() is None and time.monotonic() < until:
            time.sleep(0.02)
        return self.tip()

    def check_quiet(self):
        self.assertEqual(self.browser.get_log("browser"), [])
        urls = []
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        self.assertEqual([url[:40] for url in urls
                          if not url.startswith(("file:///", "data:"))], [])
        self.assertLessEqual(sum(url.startswith("file:") for url in urls), 1, urls)

    def check_tables(self, width):
        """Nothing of any table is cut off, of those that are folded up either: no place scrolls
        sideways, and no cell is narrower than its words or stands outside."""
        self.browser.execute_async_script(
            "document.querySelectorAll('details').forEach(one => { one.open = true; });"
            "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        tables = self.ask(
            "[...document.querySelectorAll('.table')].map(place => [place.firstElementChild.id, "
            "place.scrollWidth - place.clientWidth, Math.max(...[...place.querySelectorAll('th, td')]"
            ".map(cell => Math.max(cell.scrollWidth - cell.clientWidth, cell.getBoundingClientRect()"
            ".right - place.getBoundingClientRect().right))), place.clientWidth])")
        self.assertGreater(len(tables), 1)
        for name, over, outside, own in tables:
            self.assertGreater(own, 0, name)
            self.assertLess(own, width, name)
            self.assertLessEqual(over, 0, name)
            self.assertLessEqual(outside, 1, name)  # of rounding

    def test_every_page_on_every_screen(self):
        for name, path in self.pages.items():
            self.assertLess(path.stat().st_size, 3e6)
            for width, scheme in SCREENS:
                with self.subTest(page=name, width=width, scheme=scheme):
                    self.look(path, width, scheme)
                    scroll, client = self.ask("[document.documentElement.scrollWidth, "
                                              "document.documentElement.clientWidth]")
                    self.assertLessEqual(width - 20, client)  # less a scroll bar
                    self.assertLessEqual(scroll, client)
                    if width >= 1400:  # tables of whole rows
                        self.assertEqual(self.ask(
                            "[...document.querySelectorAll('section > .table.cards')].map(place => "
                            "place.firstElementChild.id)"), [])
                    self.check_tables(width)
                    self.assertEqual(self.ask("getComputedStyle(document.body).backgroundColor"),
                                     PAGE[scheme])
                    self.assertTrue(self.ask(
                        "[...document.images].every(image => image.naturalWidth > 0)"))
                    charts = self.browser.find_elements(By.CSS_SELECTOR, ".chart")
                    self.assertEqual(len(charts), {"run": 3, "mesh": 3, "categories": 5}.get(name, 4))
                    for chart in charts:
                        drawn, inside = self.ask(
                            "[arguments[0].querySelectorAll('.parts > path').length, "
                            "arguments[0].querySelector('svg').getBoundingClientRect().width]", chart)
                        self.assertGreater(drawn, 0)
                        self.assertLessEqual(inside, width)
                    self.check_quiet()

    def test_fabrics_can_be_read_on_a_phone(self):
        """They scroll at their own size, whose letters are 11.5 pixels."""
        for name in ("sweep", "mesh"):
            self.look(self.pages[name], 400, "light")
            shown, own = self.ask("(image => [image.getBoundingClientRect().width, "
                                  "image.naturalWidth])(document.images[0])")
            self.assertGreaterEqual(shown, own, name)
            self.assertLess(own, 3000, name)
        # 32 x 31 distances, not 496 lines; sites that are alike are drawn once.
        drawing = self.ask("atob(document.images[0].src.split(',')[1])")
        # In the dark it has colours of its own, and is not turned round by the page.
        self.assertIn("@media (prefers-color-scheme: dark)", drawing)
        self.look(self.pages[name], 400, "dark")
        self.assertEqual(self.ask("getComputedStyle(document.images[0]).filter"), "none")
        self.assertEqual(drawing.count(" km</text>"), 32 * 31)
        self.assertEqual(drawing.count('class="frame"'), 1)
        self.check_quiet()

    def test_the_best_plans_stand_on_a_wide_screen(self):
        """All columns at once, that of the front among them, and on narrower ones as cards."""
        for width, cards in ((1600, False), (1400, False), (1000, True), (400, True)):
            for name in ("sweep", "categories"):
                self.look(self.pages[name], width, "light")
                shown = self.ask("document.getElementById('table-plans').parentElement.classList"
                                 ".contains('cards')")
                self.assertEqual(shown, cards, f"{name} at {width}")
                said = self.ask("getComputedStyle(document.querySelector('#table-plans td'), "
                                "'::before').content")
                self.assertEqual(said, '"#"' if cards else "none")

    def test_the_answer_to_uncertain_spans_stands_large(self):
        """And beside it the best plan of the study as it is."""
        with contextlib.closing(sqlite3.connect(self.folder / "robust.db")) as connection:
            robust = json.loads(connection.execute(
                "SELECT robust FROM search WHERE robust IS NOT NULL").fetchone()[0])
        self.assertNotEqual(robust["best"]["label"], robust["nominal_best"]["label"])
        self.look(self.pages["robust"], 1400, "light")
        large = self.ask("document.querySelector('.headline').innerText")
        self.assertIn(f"{robust['best']['plan']['crossing'].upper()}-out", large)
        chosen = self.ask("[...document.querySelectorAll('.choices article')].map(one => "
                          "[one.querySelector('code').innerText, one.getBoundingClientRect().left, "
                          "one.getBoundingClientRect().top])")
        self.assertEqual([plan for plan, _, _ in chosen],
                         [robust["best"]["label"], robust["nominal_best"]["label"]])
        (_, left, top), (_, right, beside) = chosen
        self.assertLess(left, right)
        self.assertEqual(top, beside)

    def test_answer_is_the_databases(self):
        with contextlib.closing(sqlite3.connect(self.folder / "sweep.db")) as connection:
            explanation, label = connection.execute(
                "SELECT explanation, label FROM search JOIN search_run ON search_id = id "
                "WHERE rank = 1 AND id = 1").fetchone()
        self.look(self.pages["sweep"], 1600, "light")
        best, *others = explanation.strip().splitlines()
        shown = self.ask("document.getElementById('answer').innerText")
        self.assertIn(best.removeprefix(f"Best: {label}: "), shown.splitlines()[0])
        self.assertIn(label, shown.splitlines())
        texts = self.ask("document.querySelector('main').innerText").splitlines()
        for line in others:
            self.assertIn(line, texts)

    def test_tooltips_of_every_chart(self):
        for name in ("sweep", "map"):
            self.look(self.pages[name], 1600, "light")
            specs = json.loads(self.ask("document.getElementById('charts').textContent"))
            for chart in self.browser.find_elements(By.CSS_SELECTOR, ".chart"):
                spec = specs[chart.get_attribute("data-chart")]
                tips = [value["tip"] for data in spec["data"] for value in data["values"]
                        if "tip" in value]
                wanted = [[tip["title"], *(f"{key}\n{text}" for key, text in tip.items()
                                           if key != "title")] for tip in tips]
                # The largest mark is one that a hand would find.
                mark = self.ask("[...arguments[0].querySelectorAll('.parts > path')].sort((a, b) => "
                                "b.getBBox().width - a.getBBox().width)[0]", chart)
                said = self.hover(mark)
                self.assertIn(said, ["\n".join(one) for one in wanted], said)
                ActionChains(self.browser, duration=0).move_to_element(
                    self.browser.find_element(By.TAG_NAME, "h1")).perform()
                self.assertIsNone(self.tip())
        self.check_quiet()

    def test_a_finger_asks_as_well(self):
        self.look(self.pages["sweep"], 400, "dark")
        tell = self.browser.execute_cdp_cmd
        tell("Emulation.setTouchEmulationEnabled", {"enabled": True})
        self.addCleanup(tell, "Emulation.setTouchEmulationEnabled", {"enabled": False})

        def tap(element):
            self.browser.execute_async_script(
                "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'});"
                "requestAnimationFrame(() => requestAnimationFrame(arguments[1]))", element)
            x, y, width, height = self.ask("(({x, y, width, height}) => [x, y, width, height])"
                                           "(arguments[0].getBoundingClientRect())", element)
            tell("Input.synthesizeTapGesture", {"x": x + width / 2, "y": y + height / 2})

        mark = self.browser.find_element(By.CSS_SELECTOR, "[data-chart=times] .parts > path")
        tap(mark)
        self.assertTrue(self.tip().startswith("#1\ncompute\n"), self.tip())
        left, right = self.ask("(({left, right}) => [left, right])"
                               "(document.getElementById('tip').getBoundingClientRect())")
        self.assertTrue(0 <= left < right <= 400, (left, right))
        tap(self.browser.find_element(By.TAG_NAME, "h1"))
        self.assertIsNone(self.tip())

    def test_charts_follow_the_width_and_the_scheme(self):
        self.look(self.pages["sweep"], 1600, "light")
        colour = "getComputedStyle(document.querySelector('.role-axis-label text')).fill"
        light = self.ask(colour)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        self.wait("dark")
        self.assertNotEqual(self.ask(colour), light)
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": True})
        time.sleep(0.1)
        self.wait("dark")
        self.assertLess(self.ask("document.querySelector('.chart svg').clientWidth"), 400)

    def test_words_of_others_do_nothing(self):
        db = self.folder / "markup.db"
        db.write_bytes((self.folder / "sweep.db").read_bytes())
        with contextlib.closing(sqlite3.connect(db)) as connection, connection:
            for statement in ("search SET study", "search_run SET label", "plan SET label",
                              "run_resource SET name"):
                connection.execute(f"UPDATE {statement} = ?", (MARKUP,))
        self.look(self.write(db, "--search", "1"), 400, "light")
        self.assertEqual(self.ask("document.querySelector('h1').textContent"), MARKUP)
        self.assertEqual(self.ask("document.querySelectorAll('script').length"), 3)
        mark = self.browser.find_element(By.CSS_SELECTOR, "[data-chart=times] .parts > path")
        self.assertIn(MARKUP, self.hover(mark).splitlines())
        self.assertEqual(self.ask("document.querySelectorAll('img[src=x]').length"), 0)
        self.check_quiet()


if __name__ == "__main__":
    unittest.main()
