"""Inspects the page that `pgndex player --format html` writes.

Usage: page.py structure PAGE JSON
           Checks that the page is well-formed, loads nothing, is accessible, and has all of the JSON.
           Prints a summary.
       page.py printed PAGE
           Prints the number of A4 pages that Chromium makes of it.
       page.py fits PAGE
           Prints, for several screen widths, by how much elements are wider than the page, and than their wrappers.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

SECONDS = 120
VOID = {"br", "meta"}
HEADINGS = ["h1", "h2", "h3", "h4"]


class Balanced(HTMLParser):
    """Checks that tags are closed in the reverse order in which they were opened."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.ids = []
        self.links = []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        for name, value in attributes:
            assert name not in ("src", "srcset", "srcdoc", "data", "action", "style") and not name.startswith("on"), (tag, name)
            assert name not in ("href", "xlink:href") or value.startswith("#"), (tag, value)
            if name == "id":
                self.ids.append(value)
            if name in ("href", "aria-labelledby"):
                self.links.append(value.removeprefix("#"))
        assert tag not in ("script", "link", "iframe", "object", "embed", "img", "base", "form", "image", "audio", "video"), tag

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag, tag


def words(element):
    return " ".join("".join(element.itertext()).split())


def shown(text):
    """A text of the JSON as it is shown."""
    turns = {0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
    visible = lambda letter: chr(0x2400 + ord(letter)) if letter < " " else chr(0x2421) if letter == "\x7f" else letter
    text = "".join("\ufffd" if ord(letter) in turns or "\x80" <= letter <= "\x9f" or letter in "\ufffe\uffff" else visible(letter) for letter in text)
    return " ".join(text.split())


def column_of_unfinished(records):
    """Whether a table has a column for games without a result; it has none if they are few."""
    unfinished, games = (sum(it[field] for it in records) for field in ("unfinished", "games"))
    return unfinished > 0 and 100 * unfinished >= 5 * games


def row_of(record, page_has):
    """The cells of a record, without the cells before it."""
    finished = record["wins"] + record["draws"] + record["losses"]
    points = 2 * record["wins"] + record["draws"]
    share = lambda part, whole: f"{100 * part / whole:.1f} %"
    bar = ", ".join(share(record[field], finished or 1) + word for field, word in (("wins", " won"), ("draws", " drawn"), ("losses", " lost")))
    cells = [record["games"], share(points, 2 * finished) + bar if finished else ""]
    cells += [record[field] for field in ("wins", "draws", "losses")]
    cells += [record["unfinished"]] if page_has["unfinished"] else []
    if page_has["ratings"]:
        cells += [record["rating"], record["opponent_rating"], record["performance"]]
        games = record["performance_games"]
        if games not in (0, finished):
            cells[-1] = f"{cells[-1]} ({games:,})"
    return ["" if cell is None else str(cell) for cell in cells]


def lines(nodes, before=(), is_printed=False):
    """All nodes, each with its line, and the line of most games if the position is reached by another line and this
    is not shown already."""
    for node in nodes:
        line = before + ((f"{(node['ply'] + 1) // 2}. " if node["ply"] % 2 else "") + node["san"],)
        same = node["transposes_to"]
        yield " ".join(line) + (f" = {same}" if same and not is_printed else ""), node
        yield from lines(node["next"], line, bool(same))


def expected(answer):
    """The expected rows of all tables."""
    everything = [answer["all"], answer["white"], answer["black"]]
    ratings = any(answer["all"][field] is not None for field in ("rating", "opponent_rating"))

    def table(named, whole=None):
        """The rows of some records with their names and their shares of the total."""
        named = list(named)
        page_has = {"unfinished": column_of_unfinished([record for _, record in named]), "ratings": ratings}
        share = lambda record: [f"{100 * record['games'] / whole:.1f} %"] if whole else []
        name_of = lambda name: shown(str(name)) if name is not None else "unknown"
        return [[name_of(name)] + share(record) + row_of(record, page_has) for name, record in named]

    rows = lambda key, field: table((record[field], record) for record in answer[key])
    opening = lambda eco, name: f"{eco} {name}" if eco and name else None
    tables = [table(zip(("all", "White", "Black"), everything))]
    for side in (answer["white"], answer["black"]):
        if side["games"]:
            tables.append(table((opening(it["eco"], it["name"]), it) for it in side["openings"]))
            tables.append(table(lines(side["lines"]), side["games"]))
    tables.append(table(((it["kind"], it) for it in answer["endings"]), answer["all"]["games"]))
    tables.append(rows("years", "year"))
    if ratings:
        hundred = lambda first: None if first is None else f"{first} to {first + 99}"
        tables.append(table((hundred(it["from"]), it) for it in answer["opponent_ratings"]))
    if any(it["speed"] for it in answer["speeds"]):
        tables.append(rows("speeds", "speed"))
    tables.append(rows("opponents", "name"))
    sides = {"w": "White", "b": "Black"}
    tables.append([
        [str(win["game_id"]), sides[win["side"]], shown(win["opponent"] or "unknown"), str(win["opponent_rating"]), win["date"] or "",
         shown(win["event"] or ""), opening(win["eco"], win["opening"]) or ""] for win in answer["best_wins"]
    ])
    return [table for table in tables if table]


def readable(root):
    """Checks that the page is accessible to screen readers."""
    assert root.get("lang") == "en" and words(root.find("head/title"))
    headings = [element for element in root.iter() if element.tag in HEADINGS]
    levels = [HEADINGS.index(heading.tag) for heading in headings]
    assert levels[0] == 0 and levels.count(0) == 1 and all(after <= before + 1 for before, after in zip(levels, levels[1:])), levels
    assert all(words(heading) for heading in headings)
    for table in root.iter("table"):
        assert table[0].tag == "caption" and words(table[0])
        heads = table.findall("thead/tr/th")
        assert heads and all(head.get("scope") == "col" and words(head) for head in heads)
        for row in table.findall("tbody/tr"):
            assert len(row) == len(heads) and row[0].tag == "th" and row[0].get("scope") == "row" and words(row[0]), words(row)
            assert all(cell.tag == "td" for cell in row[1:])
    shapes = {shape.get("id") for svg in root.findall("body/svg") for shape in svg.iter("g")}
    for svg in root.iter("svg"):
        if svg.get("aria-hidden") == "true":
            continue
        assert svg.get("role") == "img" and svg[0].tag == "title" and words(svg[0]), svg.attrib
        assert {use.get("href").removeprefix("#") for use in svg.iter("use")} <= shapes
    for board in (svg for svg in root.iter("svg") if svg.get("class") == "board"):
        assert "FEN: " in words(board[1])


def hold_chart(root, answer):
    """Checks that the chart has a mark for each year, at the height of its rating."""
    years = [year for year in answer["years"] if year["year"] is not None]
    lines = {
        "rating": [(year["year"], year["rating"]) for year in years if year["rating"] is not None],
        "performance": [(year["year"], year["performance"]) for year in years if year["performance_games"] >= 5],
    }
    charts = [figure.find("svg") for figure in root.iter("figure") if figure.get("class") == "chart"]
    assert len(charts) == (len({year for line in lines.values() for year, _ in line}) > 1), lines
    for chart in charts:
        marks = {group.get("class"): list(group)[1:] for group in chart.iter("g")}
        assert {name: len(line) for name, line in lines.items() if line} == {name: len(those) for name, those in marks.items()}
        places = [
            (year, rating, float(mark.get("cx") or mark.get("x")), float(mark.get("cy") or mark.get("y")) + 4 * (mark.tag == "rect"))
            for name, those in marks.items() for (year, rating), mark in zip(lines[name], those)
        ]
        (_, low, _, lowest), (_, high, _, highest) = (choose(places, key=lambda place: place[1]) for choose in (min, max))
        for _, rating, _, height in places:
            assert abs((lowest - height) * (high - low) - (rating - low) * (lowest - highest)) <= 0.2 * (high - low + 1), (rating, height)
        assert all(0 <= across <= 640 and 0 <= height <= 260 for _, _, across, height in places)


def held(text, answer):
    """Checks that a page is accessible and has all of an answer. Returns a summary."""
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style and "@import" not in style
    assert not [letter for letter in text if unicodedata.category(letter) in ("Cc", "Cs") and letter != "\n"]
    parser = Balanced()
    parser.feed(text)
    parser.close()
    assert not parser.open, parser.open
    assert len(parser.ids) == len(set(parser.ids)) and set(parser.links) <= set(parser.ids)
    root = ElementTree.fromstring(text)
    readable(root)
    found = [[[words(cell) for cell in row] for row in table.findall("tbody/tr")] for table in root.iter("table")]
    for one, other in zip(found, wanted := expected(answer), strict=True):
        assert one == other, next(pair for pair in zip(one + [None], other + [None]) if pair[0] != pair[1])
    hold_chart(root, answer)
    name = shown(answer["players"][0]["name"])
    assert words(root.find("head/title")).startswith(name) and words(root.find("body/header/h1")).startswith(name)
    boards = sum(svg.get("class") == "board" for svg in root.iter("svg"))
    charts = sum(figure.get("class") == "chart" for figure in root.iter("figure"))
    return f"{len(wanted)} tables, {boards} boards, {charts} charts"


def structure(page, answer):
    with open(page, encoding="utf-8") as text, open(answer, encoding="utf-8") as record:
        print(held(text.read(), json.load(record)))


OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]


def chromium(directory, *arguments):
    """The output of Chromium."""
    command = ["chromium", *OPTIONS, f"--user-data-dir={directory}/profile", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr}")
    return done.stdout


def printed(page):
    with tempfile.TemporaryDirectory() as directory:
        pdf = os.path.join(directory, "page.pdf")
        chromium(directory, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", f"file://{os.path.abspath(page)}")
        boxes = re.findall(rb"/MediaBox *\[([^\]]*)\]", open(pdf, "rb").read())
    for box in boxes:
        left, bottom, right, top = map(float, box.split())
        # A4 in points.
        assert abs(right - left - 595.28) < 1 and abs(top - bottom - 841.89) < 1, box
    print(len(boxes), "pages")


# For a page in a frame: how much wider it is than its screen, and how many of its wrappers must be scrolled
# horizontally.
LOOK = """
onload = () => {
  const result = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument;
    const wide = [...page.querySelectorAll(".wide")].filter(one => one.scrollWidth > one.clientWidth);
    return `${frame.width}: ${page.documentElement.scrollWidth - frame.clientWidth} ${wide.length}`;
  });
  document.body.textContent = "result " + result.join(", ") + " result";
};
"""


def fits(page):
    text = open(page, encoding="utf-8").read()
    policy = re.search("<meta http-equiv=[^>]*>", text).group()
    framed = text.replace(policy, "").replace("&", "&amp;").replace('"', "&quot;")
    frames = "".join(f'<iframe width="{width}" height="900" frameborder="0" srcdoc="{framed}"></iframe>' for width in (360, 800, 1200))
    with tempfile.TemporaryDirectory() as directory:
        outer = os.path.join(directory, "outer.html")
        with open(outer, "w", encoding="utf-8") as file:
            file.write(f'<!DOCTYPE html><meta charset="utf-8"><script>{LOOK}</script><body>{frames}</body>')
        shown = chromium(directory, "--virtual-time-budget=5000", "--dump-dom", f"file://{outer}")
    print(re.search(r"result (\d.*\d) result", shown).group(1))


if __name__ == "__main__":
    {"structure": structure, "printed": printed, "fits": fits}[sys.argv[1]](*sys.argv[2:])
