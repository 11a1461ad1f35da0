"""Looks at SVG pictures of boards.

Usage: picture.py structure FILE...   prints what is in each, a line for each file
       picture.py rendered FILE...    prints how far Chromium and librsvg are apart on each, in thousandths of the whole range: the mean
                                      difference of a pixel's colours, and that of the square of the board where it is greatest
"""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
# The side of the compared square in pixels: twice the size that a picture requests.
SIDE = 900
MARGIN = 50
SECONDS = 120


def structure(path):
    root = ElementTree.parse(path).getroot()
    if root.tag != f"{SVG}svg" or root.get("role") != "img" or [child.tag for child in root][:2] != [f"{SVG}title", f"{SVG}desc"]:
        raise SystemExit(f"{path}: not a picture with a description")
    names = {shape.get("id") for shape in root.iter(f"{SVG}g") if shape.get("id")}
    used = [use.get("href") for use in root.iter(f"{SVG}use")]
    if not {use.removeprefix("#") for use in used} == names:
        raise SystemExit(f"{path}: {names} are defined, {used} used")
    classes = [element.get("class", "") for element in root.iter()]
    marks = [word.split()[1] for word in classes if word.startswith(("last-move ", "check "))]
    arrows = next((group for group in root.iter(f"{SVG}g") if group.get("class") == "arrows"), [])
    return f"{len(used)} pieces, marks {marks}, arrows {sorted(arrow.get('class') for arrow in arrows)}"


def on_white(image):
    from PIL import Image

    # The corners of the board are round; the background is white.
    image = image.convert("RGBA")
    paper = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(paper, image).convert("RGB").crop((0, 0, SIDE, SIDE))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr}")


def rendered(paths):
    """Chromium draws all pictures on one page, one below the other."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as directory:
        chromium, librsvg, page = (os.path.join(directory, name) for name in ("chromium.png", "librsvg.png", "page.html"))
        with open(page, "w", encoding="utf-8") as file:
            file.write("<!doctype html><style>body { margin: 0 } img { display: block }</style>")
            file.writelines(f'<img src="file://{os.path.abspath(path)}">' for path in paths)
        # The window is larger than the pictures, because the browser uses a part of it.
        height = len(paths) * SIDE // 2 + 350
        run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
            f"--user-data-dir={directory}/profile", "--force-device-scale-factor=2", f"--window-size=700,{height}",
            f"--screenshot={chromium}", f"file://{page}")
        drawn = Image.open(chromium)
        for number, path in enumerate(paths):
            run("rsvg-convert", f"--width={SIDE}", f"--height={SIDE}", f"--output={librsvg}", path)
            part = drawn.crop((0, number * SIDE, SIDE, (number + 1) * SIDE))
            print(difference(path, [on_white(part), on_white(Image.open(librsvg))]))


def difference(path, images):
    from PIL import Image, ImageChops, ImageStat

    if images[0].size != images[1].size:
        raise SystemExit(f"{path}: {[image.size for image in images]}")
    for image in images:
        if len(image.getcolors(SIDE * SIDE)) < 20:
            raise SystemExit(f"{path}: the picture is empty")
    apart = ImageChops.difference(*images)
    squares = apart.crop((MARGIN, MARGIN, SIDE - MARGIN, SIDE - MARGIN)).resize((8, 8), Image.Resampling.BOX)
    worst = max(sum(squares.getpixel((x, y))) for x in range(8) for y in range(8))
    return " ".join(f"{1000 * part / 3 / 255:.1f}" for part in (sum(ImageStat.Stat(apart).mean), worst))


if sys.argv[1] == "rendered":
    rendered(sys.argv[2:])
else:
    for path in sys.argv[2:]:
        print(structure(path))
