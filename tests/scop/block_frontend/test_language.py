"""The words of block programs."""

import inspect

import pytest

from polysched.errors import UsageError
from polysched.scop.block_frontend import language
from polysched.scop.block_frontend.block_source import WORDS


@pytest.mark.parametrize("word", sorted(WORDS))
def test_every_word_is_explained_and_refused_outside(word: str) -> None:
    function = getattr(language, word)
    assert function.__doc__
    with pytest.raises(UsageError, match=f"{word} has a meaning only in a block program"):
        function(*[None] * sum(p.default is p.empty for p in inspect.signature(function).parameters.values()))
