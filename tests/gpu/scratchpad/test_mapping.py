"""What a mapping says of itself."""

from __future__ import annotations

from tests.gpu.scratchpad.accelerated import mapped, norm, product


def test_the_figures() -> None:
    own = mapped(product(32, 32, 32), tile=(16, 32))
    found = own.to_json()
    assert found["io_bytes"] == 2 * 32 * 32 * 2 + 32 * 32 * 4 <= found["moved_bytes"]
    assert found["groups"][0]["by_cube"] == ["S1"]
    assert found["groups"][0]["tiles"] == 2
    assert 0 < found["cube_utilisation"] <= 1
    assert own.peak_work == 4096
    assert mapped(product(16, 16, 16, integers=True), "gemmini").peak_work == 256


def test_words() -> None:
    own = mapped(norm(8, 8))
    assert len(repr(own)) <= 300
    assert "on davinci" in repr(own)
    text = str(own)
    for words in ("group kernel0", "memory UB:", "simulated:", "inputs and outputs once are"):
        assert words in text
    assert "<svg" in own._repr_html_()
