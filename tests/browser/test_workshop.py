"""A participant's handout is printed on one page."""

import re

import pytest

import workshop
from volcano_lab.messages import speak

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [*workshop.SECTIONS])
def test_a_handout_is_one_page(name, language, browser):
    speak(language)
    page = browser.new_page()
    page.set_content(workshop.handout(name, language))
    pdf = page.pdf(prefer_css_page_size=True)
    page.close()
    assert len(re.findall(rb"/Type /Page\b(?!s)", pdf)) == 1
