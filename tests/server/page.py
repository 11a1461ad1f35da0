"""Tests the page of `pgndex serve` in a browser.

    python3 tests/server/page.py http://127.0.0.1:9002 OUT_DIR PART

PART is one of
- look: each view at each width in one colour scheme, with axe-core; pictures of them are written to OUT_DIR;
- look-at-every-width: the same at each width in both colour schemes;
- use: the page by keyboard only, by mouse, and with slow and hostile responses.

The server must be running; any database with games will do. The script needs the packages playwright and
axe-playwright-python, of which only axe-core is used, and Chromium (CHROMIUM, or chromium on the path).
"""

import importlib.util
import json
import os
import re
import shutil
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

HEIGHTS = {360: 780, 1024: 768, 1920: 1080, 2560: 1440}
# The views that use a wide window, and the width from which only these are checked.
WIDE_VIEWS = ("explorer", "games", "game", "statistics")
WIDE, WIDEST = 1920, 2560
LOOKS = [("light", 1024), ("dark", 360), ("light", WIDE), ("dark", WIDEST)]
EVERY_LOOK = [(scheme, width) for scheme in ("light", "dark") for width in HEIGHTS]
HOSTILE = '<script>window.hit=1</script>"><img src=x onerror="window.hit=2">'
STATISTICS = "SELECT result, count(*) AS games FROM game GROUP BY result"
BOOK = "1. e4 c5 2. Nf3 d6 (2... Nc6 3. Bb5) 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be3 *"

failures = []


def check(is_right, what):
    if not is_right:
        failures.append(what)
        print(f"  WRONG: {what}", flush=True)


class Visit:
    """An open page, and the messages on its console."""

    def __init__(self, page, name):
        self.page, self.name, self.console_messages, self.awaited = page, name, [], []
        page.on("console", lambda message: self.console_messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.console_messages.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.console_messages.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: (self.check_host(request.url), self.awaited.append(request.url)))
        for end in ("requestfinished", "requestfailed"):
            page.on(end, lambda request: self.awaited.remove(request.url) if request.url in self.awaited else None)

    def check_host(self, address):
        is_own = address.startswith((Visit.base, "data:", "blob:"))
        check(is_own, f"{self.name}: a request to another host: {address}")

    def open(self, address):
        try:
            self.page.goto(address)
        except Error as error:
            check(False, f"{self.name}: {error.message.splitlines()[0]}; not answered: {self.awaited}")
        self.settle()

    def settle(self):
        """Waits until nothing is loading, in three consecutive checks: on a busy machine, work can begin late."""
        quiet = 0
        for _ in range(600):
            self.page.wait_for_timeout(100)
            quiet = 0 if self.awaited or self.page.locator("[aria-busy]").count() else quiet + 1
            if quiet == 3:
                break

    def check_console(self):
        check(not self.console_messages, f"{self.name}: the console says {self.console_messages[:3]}")
        self.console_messages.clear()

    def check_width(self):
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check(wide <= 0, f"{self.name}: it scrolls horizontally by {wide} px")

    def check_axe(self, axe):
        self.page.evaluate(axe)
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        for one in found:
            if one["impact"] in ("serious", "critical"):
                where = [(node["target"], node.get("failureSummary", "")[:200]) for node in one["nodes"][:3]]
                check(False, f"{self.name}: axe: {one['id']} ({one['impact']}): {where}")


def views(base):
    """Each view, with an address that has something to show."""
    return {
        "explorer": f"{base}/?play=e2e4,c7c5",
        "explorer-tree": f"{base}/?play=e2e4,e7e5&tree=e2e4,e7e5(c7c5,g1f3),g1f3",
        "explorer-nothing": f"{base}/?play=a2a4,a7a6,a1a3,h7h6,a3h3&player=Nobody+at+all",
        "explorer-wrong": f"{base}/?play=e2e5",
        "games": f"{base}/view/games?sort=date",
        "games-several": f"{base}/view/games?player=a&event=b",
        "game": f"{base}/view/game/1?at=7",
        "game-missing": f"{base}/view/game/99999999",
        "search": f"{base}/view/search",
        "search-material": f"{base}/view/search?ending=rook",
        "player": f"{base}/view/player?name=a",
        "repertoire": f"{base}/view/repertoire",
        "openings": f"{base}/view/openings",
        "statistics": f"{base}/view/statistics",
        "sources": f"{base}/view/sources",
        "sql": f"{base}/view/sql?sql={STATISTICS.replace(' ', '+').replace('*', '%2A')}",
        "nowhere": f"{base}/view/nowhere",
    }


@contextmanager
def page_of(browser, width=1024, scheme="light", **more):
    context = browser.new_context(viewport={"width": width, "height": HEIGHTS[width]}, color_scheme=scheme, **more)
    try:
        yield context.new_page()
    finally:
        context.close()


def look(browser, base, out, axe, looks, wide):
    for name, address in views(base).items():
        print(name, flush=True)
        for scheme, width in looks:
            if width < wide or name in WIDE_VIEWS:
                with page_of(browser, width, scheme) as page:
                    visit = Visit(page, f"{name} at {width}, {scheme}")
                    visit.open(address)
                    if name == "repertoire":
                        page.fill("textarea", BOOK)
                        page.click("button.primary")
                        visit.settle()
                    if name == "sql":
                        check(page.locator(".sql-rows").count() == 0, "a statement in the address is not run")
                        page.click("button.primary")
                        visit.settle()
                    visit.check_width()
                    # Missing objects are answered with 404 or 400, which the browser logs.
                    visit.console_messages = [text for text in visit.console_messages if "Failed to load resource" not in text or name not in ("game-missing", "explorer-wrong")]
                    visit.check_console()
                    page.screenshot(path=out / f"{name}-{width}-{scheme}.png")
                    if width in (360, 1024):
                        visit.check_axe(axe)
                    heads = page.locator("h1").count()
                    check(heads == 1, f"{visit.name}: {heads} headings of the first level")


def play_by_keys(browser, base):
    """Plays moves with the keyboard alone: on the board, by typing, through the table, back and forth."""
    print("by keyboard", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "by keyboard")
        visit.open(f"{base}/")
        keys = page.keyboard
        keys.press("Tab")
        check(page.evaluate("document.activeElement.className") == "skip", "the link to the content receives the focus first")
        keys.press("Enter")
        keys.press("Tab")
        check(page.evaluate("document.activeElement.dataset.square") == "e2", "the board is the first element of the content that receives the focus")
        for key in ["Enter", "ArrowUp", "ArrowUp", "Enter"]:
            keys.press(key)
        visit.settle()
        check("play=e2e4" in page.url, f"e4 is played on the board: {page.url}")
        for key in ["ArrowLeft", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowUp", "Enter", "ArrowDown", "ArrowDown", "Enter"]:
            keys.press(key)
        visit.settle()
        check("play=e2e4,c7c5" in page.url, f"c5 is played on the board: {page.url}")
        check("c5" in page.locator("#live").inner_text(), "the move is announced")
        for _ in range(40):
            keys.press("Tab")
            if page.evaluate("document.activeElement.name") == "move":
                break
        keys.type("Nf3")
        keys.press("Enter")
        visit.settle()
        check("play=e2e4,c7c5,g1f3" in page.url, f"a typed Nf3 is played: {page.url}")
        page.evaluate("document.activeElement.blur()")
        keys.press("ArrowLeft")
        visit.settle()
        check(re.search("play=e2e4,c7c5(&|$)", page.url) is not None, f"one move back in the line: {page.url}")
        keys.press("ArrowRight")
        visit.settle()
        check("play=e2e4,c7c5,g1f3" in page.url, f"one move forward in the line: {page.url}")
        page.go_back()
        visit.settle()
        check(re.search("play=e2e4,c7c5(&|$)", page.url) is not None, f"back in the history of the browser: {page.url}")
        label = page.locator("[data-square=c5]").get_attribute("aria-label")
        check(label == "c5, black pawn", f"the board shows the position of the address: {label}")
        page.go_forward()
        visit.settle()
        label = page.locator("[data-square=f3]").get_attribute("aria-label")
        check(label == "f3, white knight", f"after going forward, the board shows the position: {label}")
        keys.press("f")
        visit.settle()
        check("flip" in page.url, "the board is flipped")
        visit.check_console()


def play_by_mouse(browser, base):
    print("by mouse", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "by mouse")
        visit.open(f"{base}/")
        page.drag_and_drop("[data-square=d2]", "[data-square=d4]")
        visit.settle()
        check("play=d2d4" in page.url, f"a dragged d4 is played: {page.url}")
        page.click("[data-square=g8]")
        page.click("[data-square=f6]")
        visit.settle()
        check("play=d2d4,g8f6" in page.url, f"a clicked Nf6 is played: {page.url}")
        page.keyboard.press("Escape")
        page.go_back()
        visit.settle()
        page.click("[data-square=d7]")
        page.click("[data-square=d5]")
        visit.settle()
        check("tree=" in page.url, f"a variation is kept: {page.url}")
        check(page.locator(".variation").count() == 1, "the variation is shown")
        visit.open(f"{base}/?fen=8/P6k/8/8/8/8/7K/8+w+-+-+0+1")
        page.click("[data-square=a7]")
        page.click("[data-square=a8]")
        page.click(".promotion [aria-label=knight]")
        visit.settle()
        check("play=a7a8n" in page.url, f"a pawn is promoted to a knight: {page.url}")
        page.click("summary:has-text('Paste')")
        page.fill(".paste textarea", "1. d4 d5 2. c4 *")
        page.click(".paste button.primary")
        visit.settle()
        check("play=d2d4,d7d5,c2c4" in page.url and "fen" not in page.url, f"pasted moves are played: {page.url}")
        page.click("button.chip.add")
        page.fill("[name=since]", "2010")
        page.click(".filter-form button.primary")
        visit.settle()
        check("since=2010" in page.url and page.locator(".chip-text").count() == 1, f"the filter is shown as a chip: {page.url}")
        page.click(".chip-x")
        visit.settle()
        check("since" not in page.url, "the filter is removed")
        visit.open(f"{base}/?play=e2e4")
        page.click("summary:has-text('Lines from here')")
        visit.settle()
        check("lines=1" in page.url, f"the lines are opened: {page.url}")
        page.locator(".lines-tree a").first.click()
        visit.settle()
        check(re.search("play=e2e4,[a-h][1-8]", page.url) is not None and "lines=1" in page.url, f"a line can be followed: {page.url}")
        visit.check_console()


def walk(browser, base):
    """Opens a game from a list, its neighbour, and its moves."""
    print("from list to game", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "from list to game")
        visit.open(f"{base}/view/games?sort=date")
        rows = page.locator("tbody tr").count()
        check(rows > 0, "there are games")
        page.mouse.wheel(0, 100_000)
        visit.settle()
        if rows >= 60:
            check(page.locator("tbody tr").count() > rows, "scrolling extends the list")
        page.locator("tbody tr a").nth(1).click()
        visit.settle()
        check("/view/game/" in page.url, "a game is opened")
        first = page.url
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        visit.settle()
        check("at=2" in page.url, f"keys step through the moves: {page.url}")
        page.keyboard.press("p")
        visit.settle()
        check(page.url.split("?")[0] != first.split("?")[0], "a key leads to the previous game")
        page.click("text=Explore from here")
        visit.settle()
        check("/view/" not in page.url, "a link leads to the explorer")
        visit.check_console()


def search_by_hand(browser, base):
    """Sets up pieces on a board with the mouse and the keyboard; the hits are shown on small boards."""
    print("search", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "search")
        visit.open(f"{base}/view/search")
        page.locator(".palette-entry[title='white king']").click()
        page.click("[data-square=g1]")
        page.locator("[data-square=f1]").focus()
        page.keyboard.press("R")
        pattern = page.input_value("[name=pattern]")
        check(pattern == "*/*/*/*/*/*/*/?????RK?", f"the pattern is that of the board: {pattern}")
        page.click(".search-form button.primary")
        visit.settle()
        check("pattern=" in page.url, f"the search is in the address: {page.url}")
        found = page.locator(".hit .small-board")
        check(found.count() > 0, "games are found")
        label = found.first.get_attribute("aria-label")
        check("king g1" in label and "rook f1" in label, f"the positions of the games are shown: {label}")
        page.locator(".hit a").first.click()
        visit.settle()
        label = page.locator("[data-square=f1]").get_attribute("aria-label")
        check(label == "f1, white rook", f"the game opens at the position: {label}")
        page.go_back()
        visit.settle()
        check(page.locator(".hit").count() > 0, "back in the history, the search is shown")
        visit.check_console()


def follow_player(browser, base):
    """Goes from a player's report to the explorer, and from one side to the other."""
    print("player", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "player")
        visit.open(f"{base}/view/player?name=a")
        page.locator("table a").first.click()
        visit.settle()
        check("/view/games" in page.url and "player=a" in page.url, f"the record leads to the games: {page.url}")
        visit.open(f"{base}/?player=a")
        page.click(".side-choice >> text=Black")
        visit.settle()
        check("black=a" in page.url and "player" not in page.url, f"the games with Black are shown: {page.url}")
        check(page.locator("th:has-text('Score')").count() == 1, "the score is shown")
        visit.check_console()


def use_sql(browser, base):
    """Writes, runs, plots and saves a statement; an invalid statement is reported."""
    print("SQL", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "SQL")
        visit.open(f"{base}/view/sql")
        page.fill("[name=sql]", STATISTICS)
        page.keyboard.press("Control+Enter")
        visit.settle()
        check(page.locator(".sql-rows tbody tr").count() > 0, "rows are shown")
        page.click("summary:has-text('Chart')")
        visit.settle()
        check(page.locator(".sql-chart svg").count() == 1, "the rows are drawn")
        with page.expect_download() as saved:
            page.click("text=Save as CSV")
        text = Path(saved.value.path()).read_bytes().decode()
        check(text.startswith("result,games\r\n"), f"the rows are saved: {text[:40]!r}")
        visit.check_console()
        for wrong in ("SELEC 1", "DELETE FROM game", "SELECT nothing FROM nowhere"):
            page.fill("[name=sql]", wrong)
            page.click("button.primary")
            visit.settle()
            check(page.locator("[role=alert]").count() == 1, f"the error is reported: {wrong}")


def take_game(browser, base):
    """Copies and saves the PGN of a game."""
    print("PGN", flush=True)
    with page_of(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        visit = Visit(page, "PGN")
        visit.open(f"{base}/view/game/1")
        page.click("text=Copy PGN")
        page.wait_for_timeout(500)
        copied = page.evaluate("navigator.clipboard.readText()")
        with page.expect_download() as saved:
            page.click("text=Save PGN")
        text = Path(saved.value.path()).read_text()
        check(text.startswith("[Event ") and copied == text, f"the PGN is copied and saved: {copied[:40]!r}, {text[:40]!r}")
        visit.check_console()


def stop_long_work(browser, base):
    """Long work is announced, and can be stopped and repeated."""
    print("long work", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "long work")
        is_slow = True
        held = []

        def answer(route):
            # A request that is held is never answered.
            held.append(route) if is_slow else route.continue_()

        page.route(re.compile("/api/statistics"), answer)
        page.goto(f"{base}/view/statistics")
        page.wait_for_selector(".waiting >> text=Stop")
        page.click("text=Stop")
        check(page.locator("text=Stopped.").count() == 1, "the work was stopped")
        is_slow = False
        page.click("text=Try again")
        visit.settle()
        check(page.locator("figure").count() > 0, "the work can be repeated")
        for route in held:
            with suppress(Error):
                route.abort()
        page.unroute_all(behavior="ignoreErrors")


def check_empty_answers(browser, base):
    """If nothing is found, the page says why."""
    print("nothing", flush=True)
    reasons = {
        "/?play=a2a4,a7a6,a1a3,h7h6,a3h3": "No game reached this position",
        "/?play=e2e4&player=Nobody+at+all": "none passes the filters",
        "/view/games?player=Nobody+at+all": "No player is called “Nobody at all”",
        "/view/search?material=KQQQvKQQQ": "No game has such a position",
        "/view/player?name=Nobody+at+all": "No player is called “Nobody at all”",
        "/view/openings?player=Nobody+at+all": "No player is called",
        "/view/statistics?since=2999": "No game passes the filters",
        "/view/sql?sql=SELECT+1+WHERE+0": "Press Run to see the rows",
        "/view/search?pattern=xyz": "attern",
    }
    for address, text in reasons.items():
        with page_of(browser) as page:
            visit = Visit(page, f"nothing at {address}")
            visit.open(f"{base}{address}")
            shown = page.locator("main").inner_text()
            check(text in shown, f"{visit.name}: the reason is shown: {shown[-160:]!r}")


def check_names(browser, base):
    """If a name in a filter matches several players or nobody, each view with filters says so, and links to the
    possible players."""
    print("names", flush=True)
    for path in ("/", "/view/games", "/view/search", "/view/openings", "/view/statistics", "/view/repertoire"):
        with page_of(browser) as page:
            visit = Visit(page, f"names at {path}")
            visit.open(f"{base}{path}?player=a")
            notes = page.locator(".name-notes")
            check(re.search(r"“a” matches [\d,]+ players", notes.inner_text()) is not None, f"{visit.name}: it says that several players match: {notes.inner_text()!r}")
            name = notes.locator("a").first.inner_text()
            notes.locator("a").first.click()
            visit.settle()
            chip = page.locator(".chip-text").first.inner_text()
            check(chip == f"Player: ={name}" and notes.inner_text() == "", f"{visit.name}: one player can be chosen: {chip}, {notes.inner_text()!r}")
            visit.open(f"{base}{path}?white={name[:-1].replace(' ', '+')}qq")
            shown = page.locator("main").inner_text()
            check(shown.count("No White is called") == 1, f"{visit.name}: it says once that nobody matches: {shown[:200]!r}")
            visit.check_console()
    with page_of(browser) as page:
        visit = Visit(page, "names at the player")
        visit.open(f"{base}/view/player?name=a&opponent=b")
        text = page.locator(".name-notes").inner_text()
        check("“b” matches" in text and "“a”" not in text, f"{visit.name}: it says that several opponents match: {text!r}")
        visit.check_console()


def keep_repertoire(browser, base):
    """Typed text is kept when the user comes back; cut lists say so."""
    print("repertoire", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "repertoire")
        visit.open(f"{base}/view/repertoire")
        page.fill("textarea", BOOK)
        page.click("#nav a:has-text('Games')")
        visit.settle()
        page.go_back()
        visit.settle()
        check(page.input_value("textarea") == BOOK, "the typed text is kept")
        check(page.locator(".report h2").count() == 0, "the typed text is not checked automatically")
        page.click("button.primary")
        visit.settle()
        check(page.locator(".report h2").count() == 1, "the repertoire is checked")
        page.click("#nav a:has-text('Games')")
        visit.settle()
        page.go_back()
        visit.settle()
        check(page.input_value("textarea") == BOOK and page.locator(".report h2").count() == 1, "the text and the report are kept")
        page.reload()
        visit.settle()
        check(page.input_value("textarea") == BOOK and page.locator(".report h2").count() == 1, "the text and the report are kept when the page is reloaded")

        def answer(route):
            response = route.fetch()
            body = response.json()
            for one in body:
                one.update(unanswered=one["departures"] + one["unanswered"], unanswered_count=1234, departure_count=2345, more_games=True)
                one["departures"] = one["unanswered"]
            route.fulfill(response=response, body=json.dumps(body))

        page.route(re.compile("/api/repertoire"), answer)
        page.fill("[name=leastGames]", "1")
        page.fill("[name=leastShare]", "0")
        page.click("button.primary")
        visit.settle()
        text = page.locator(".report").first.inner_text()
        for cut in ("of 1,234", "of 2,345", "more games followed the repertoire"):
            check(cut in text, f"cut lists are reported: {cut}")
        visit.check_console()
        page.unroute_all(behavior="ignoreErrors")


def check_reported_errors(browser, base):
    """Illegal moves and invalid requests are reported differently."""
    print("wrong", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "wrong")
        heading = page.locator("h1")
        visit.open(f"{base}/")
        check(heading.inner_text() == "Start position", f"the heading of the start position: {heading.inner_text()}")
        visit.open(f"{base}/?fen=8/P6k/8/8/8/8/7K/8+w+-+-+0+1")
        check(heading.inner_text() == "Position from a FEN", f"the heading of a position from a FEN: {heading.inner_text()}")
        page.click("summary:has-text('Paste')")
        page.fill(".paste textarea", "1. e4 {" + "a word " * 10_000 + "} e5 *")
        page.click(".paste button.primary")
        visit.settle()
        message = page.locator(".paste .field-error").inner_text()
        check("too long" in message, f"a text that is too long is reported: {message!r}")
        page.fill(".paste textarea", "1. e4 {" + "a word " * 6_000 + "} e5 *")
        page.click(".paste button.primary")
        visit.settle()
        check("play=e2e4,e7e5" in page.url, f"a long text is read: {page.url}")
        visit.open(f"{base}/?play=e2e5")
        check(heading.inner_text() == "This line cannot be played", f"an illegal move is reported: {heading.inner_text()}")
        page.route(re.compile("/api/"), lambda route: route.abort())
        visit.open(f"{base}/?play=e2e4")
        text = page.locator("main").inner_text()
        check(heading.inner_text() == "Explorer" and "Is it still running?" in text, f"a missing server is reported: {text[:200]!r}")
        page.unroute_all(behavior="ignoreErrors")
        page.locator("text=Try again").first.click()
        visit.settle()
        check("King" in heading.inner_text() or "B00" in heading.inner_text(), f"the position is shown again: {heading.inner_text()}")


def sort_results(browser, base):
    """The hits of a search can be sorted."""
    print("orders", flush=True)
    with page_of(browser) as page:
        visit = Visit(page, "orders")
        visit.open(f"{base}/view/search?ending=rook")
        page.select_option(".sort-choice select", "date")
        visit.settle()
        check("sort=date" in page.url and page.locator(".hit").count() > 0, f"the hits are sorted by date: {page.url}")
        check(page.input_value(".sort-choice select") == "date", "the choice shows the order")
        page.select_option(".sort-choice select", "game")
        visit.settle()
        check("sort" not in page.url, f"the hits are sorted by game id: {page.url}")
        visit.check_console()


def spoil(value, key=""):
    """A response in which all names and texts are hostile."""
    keep = {"uci", "san", "fen", "key", "key_hex", "canonicalFen", "startFen", "start_fen", "result", "date", "winner", "next_uci", "next_san",
            "side", "turn", "status", "nextCursor", "id", "month", "path", "severity", "next"}
    if isinstance(value, dict):
        return {name: spoil(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [spoil(one, key) for one in value]
    return HOSTILE if isinstance(value, str) and key not in keep else value


def attack(browser, base):
    """Names and comments with markup are shown as text."""
    print("hostile names", flush=True)
    for name, address in views(base).items():
        with page_of(browser) as page:
            visit = Visit(page, f"hostile {name}")

            def answer(route):
                response = route.fetch()
                body = response.json() if "json" in response.headers.get("content-type", "") else None
                if body is None or response.status != 200:
                    route.fulfill(response=response)
                else:
                    route.fulfill(response=response, body=json.dumps(spoil(body)))

            page.route(re.compile("/api/(?!databases)"), answer)
            visit.open(address)
            check(page.evaluate("window.hit") is None, f"{visit.name}: markup of a name must not be run")
            check(page.locator("main img, main script").count() == 0, f"{visit.name}: markup of a name must not become an element")
            visit.console_messages = [text for text in visit.console_messages if "Failed to load resource" not in text]
            visit.check_console()
            if name in ("games", "game", "player", "sources"):
                check("<script>" in page.locator("main").inner_text(), f"{visit.name}: the name is shown unchanged")
                visit.check_width()
            page.unroute_all(behavior="ignoreErrors")


def main():
    base, out, part = sys.argv[1].rstrip("/"), Path(sys.argv[2]), sys.argv[3]
    Visit.base = base
    package = Path(importlib.util.find_spec("axe_playwright_python").origin).parent
    axe = (package / "axe.min.js").read_text()
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
        # The server is on this machine, and root has no sandbox.
        browser = playwright.chromium.launch(executable_path=chromium, chromium_sandbox=False)
        if part == "use":
            play_by_keys(browser, base)
            play_by_mouse(browser, base)
            walk(browser, base)
            search_by_hand(browser, base)
            follow_player(browser, base)
            use_sql(browser, base)
            take_game(browser, base)
            stop_long_work(browser, base)
            check_empty_answers(browser, base)
            check_names(browser, base)
            check_reported_errors(browser, base)
            keep_repertoire(browser, base)
            sort_results(browser, base)
            attack(browser, base)
        elif part == "look":
            look(browser, base, out, axe, LOOKS, WIDE)
        else:
            look(browser, base, out, axe, EVERY_LOOK, WIDEST)
        browser.close()
    print(f"{len(failures)} wrong" if failures else "all right")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
