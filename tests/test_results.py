"""The results that are shown are what the kept runs say."""

from __future__ import annotations

import re

import pytest

import report

WRITE = "run: python benchmarks/report.py"


def scripts():
    return sorted(report.available())


def test_every_kept_file_has_a_script():
    kept = {path.stem for path in report.RESULTS.glob("*.json")}
    reported = {data["experiment"] for data in report.available().values()}
    assert reported <= kept
    for name in kept - reported:  # writes its own tables
        assert (report.RESULTS.parent / f"{name}.py").exists()
        assert (report.RESULTS / f"{name}.md").exists()


@pytest.mark.parametrize("script", scripts())
def test_a_table_is_what_its_runs_say(script):
    data = report.available()[script]
    written = (report.RESULTS / f"{data['experiment']}.md").read_text()
    assert written == report.load(script).markdown(data), WRITE


@pytest.mark.parametrize("script", scripts())
def test_a_figure_is_drawn_from_the_runs_that_are_kept(script):
    data = report.available()[script]
    for name in re.findall(r"\]\((\S+\.svg)\)", report.load(script).markdown(data)):
        assert report.drawn_from(report.RESULTS / name, data), WRITE


def test_the_document_is_what_the_runs_say():
    assert report.DOCUMENT.read_text() == report.document(), WRITE


def test_readme_is_what_the_runs_say():
    written, data = report.README.read_text(), report.read("peers")
    assert written == report.with_comparison(written), WRITE
    assert report.drawn_from(report.CHART, data), WRITE


def test_links_of_the_document_lead_to_files():
    text = report.DOCUMENT.read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    for link in links:
        assert (report.DOCUMENT.parent / link).exists(), link


@pytest.mark.parametrize("script", scripts())
def test_every_run_says_what_it_was_made_with(script):
    data = report.available()[script]
    assert "seed" in data
    for where in data["environments"]:
        assert where["cpu"]
        assert where["versions"]["contree"]
        assert re.fullmatch("[0-9a-f]{40}", where["commit"])
    for kept in data["cells"].values():
        for run in kept["runs"]:
            assert run["environment"] in range(len(data["environments"]))
            assert run["date"]


def test_every_proved_tree_of_a_plain_fit_has_the_known_optimum():
    cells = report.read("peers")["cells"].values()
    known = [kept for kept in cells if kept["known_optimum"] is not None and not kept["gap"]]
    proved = [kept for kept in known if report.load("peers").proved(kept)]
    assert proved
    for kept in proved:
        assert {run["errors"] for run in kept["runs"]} == {kept["known_optimum"]}, kept
