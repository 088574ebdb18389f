"""The results that are shown are what the kept runs say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import report
from _experiment import PAGES

WRITE = "run: python benchmarks/report.py"


def scripts():
    return sorted(report.available())


def test_every_kept_file_has_a_script():
    kept = {path.stem for path in report.RESULTS.iterdir()}
    assert kept == {data["experiment"] for data in report.available().values()}


@pytest.mark.parametrize("script", scripts())
def test_a_page_is_what_its_runs_say(script):
    data = report.available()[script]
    written = (PAGES / f"{data['experiment']}.md").read_text()
    assert written == report.load(script).markdown(data), WRITE


@pytest.mark.parametrize("script", scripts())
def test_a_figure_is_drawn_from_the_runs_that_are_kept(script):
    data = report.available()[script]
    for name in re.findall(r"\]\((\S+\.svg)\)", report.load(script).markdown(data)):
        assert report.drawn_from(PAGES / name, data), WRITE


def test_the_front_page_is_what_the_runs_say():
    assert report.FRONT.read_text() == report.front_page(), WRITE


def test_headlines_are_drawn_from_the_runs_that_are_kept():
    told = report.headlines()
    assert len(told) == 5
    for headline, data in told:
        assert report.drawn_from(PAGES / f"{headline.picture}.svg", data), WRITE


def test_every_page_and_figure_is_shown():
    pages = {f"{data['experiment']}.md" for data in report.available().values()}
    texts = [report.FRONT.read_text(), *((PAGES / page).read_text() for page in pages)]
    shown = {Path(name).name for text in texts for name in re.findall(r"\((\S+\.svg)\)", text)}
    assert {path.name for path in PAGES.iterdir()} == pages | shown


def test_readme_is_what_the_runs_say():
    written = report.README.read_text()
    assert written == report.with_comparison(written), WRITE


@pytest.mark.parametrize("page", [report.FRONT, *sorted(PAGES.glob("*.md"))], ids=str)
def test_links_of_the_pages_lead_to_files(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_all_steps_are_scripts_with_arguments_that_they_know():
    steps = report.load("all").STEPS
    assert len({line for _, line in steps}) == len(steps)
    run = {line.split()[0].removesuffix(".py") for _, line in steps}
    assert run | {"deep"} == set(report.SCRIPTS)  # deep.py takes a day


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


def test_every_deep_proof_has_the_known_optimum():
    runs = [(kept, kept["runs"][-1]) for kept in report.read("deep")["cells"].values()]
    assert runs
    for kept, run in runs:
        if run["proved"]:
            assert run["errors"] == run["lower_bound"]
            assert kept.get("known_optimum") in (None, run["errors"])


def test_every_proved_tree_of_a_plain_fit_has_the_known_optimum():
    cells = report.read("peers")["cells"].values()
    known = [kept for kept in cells if kept["known_optimum"] is not None and not kept["gap"]]
    proved = [kept for kept in known if report.load("peers").proved(kept)]
    assert proved
    for kept in proved:
        assert {run["errors"] for run in kept["runs"]} == {kept["known_optimum"]}, kept
