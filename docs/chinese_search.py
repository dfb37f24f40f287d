"""Search of the Chinese pages: Chinese text is indexed and asked for in pairs of characters.

Sphinx itself indexes no Chinese without a dictionary, and names a stemmer that its pages have not.
"""

import re

from sphinx.search.zh import SearchChinese

RUN = re.compile("[\u4e00-\u9fff]{2,}")


class ChineseSearch(SearchChinese):
    """Pairs of Chinese characters, and words of other letters."""

    language_name = "English"  # whose stemmer the pages load
    js_splitter_code = r"""
function splitQuery(query) {
  const pairs = (run) => run.length < 2 ? [] : [...run.slice(1)].map((sign, at) => run[at] + sign);
  return (query.match(/[\u4e00-\u9fff]+|(?:[^\P{L}\u4e00-\u9fff]|[\p{N}_])+/gu) ?? []).flatMap(
    (word) => /^[\u4e00-\u9fff]/.test(word) ? pairs(word) : [word]);
}
"""

    def split(self, input: str) -> list[str]:
        pairs = (run[at:at + 2] for run in RUN.findall(input) for at in range(len(run) - 1))
        return [*super().split(input), *pairs]
