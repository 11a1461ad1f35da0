"""The notebook runs, and each of its questions is answered by a picture."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "five-questions.ipynb"


def test_each_question_has_a_picture() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    answered, question = {}, None
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            question = cell.source.splitlines()[0]
        for output in cell.get("outputs", []):
            assert output.output_type != "error", output
            kinds = output.get("data", {})
            if question and "image/png" in kinds:
                answered[question] = answered.get(question, 0) + 1
    assert len(answered) == 5, answered
    drawn = [output for cell in notebook.cells for output in cell.get("outputs", []) if "image/svg+xml" in output.get("data", {})]
    assert len(drawn) == 2
    assert all(output["data"]["image/svg+xml"].startswith("<svg") for output in drawn)
