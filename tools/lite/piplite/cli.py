"""`%pip` in a cell."""


async def get_transformed_code(words: list[str]) -> str:
    """The code that is run instead of `%pip WORDS`: a sentence."""
    said = f"%pip {' '.join(words)}: in the browser there are the packages of this site only; " \
           "on a desktop, after pip install \".[lab]\", more can be installed."
    return f"print({said!r})"
