"""The program around a saved model; `test_saving` compiles and runs it."""

from polysched.model.npy_main import main_text


def test_every_function_has_the_model_s_prefix() -> None:
    text = main_text("silero")
    assert "PREFIX" not in text
    assert "silero_open(argv[1])" in text
