"""Random models: the same for the same seed, of many operator sets, with open sizes at times."""

from polysched.fuzz.onnx_models.models import FURTHER_SIZES, random_model


def test_a_seed_is_a_model() -> None:
    for seed in range(5):
        one, other = random_model(seed), random_model(seed)
        assert one.proto.SerializeToString(deterministic=True) == other.proto.SerializeToString(deterministic=True)
        assert all((other.inputs[name] == array).all() for name, array in one.inputs.items())


def test_models_are_of_many_kinds() -> None:
    models = [random_model(seed) for seed in range(200)]
    assert len({m.version for m in models}) > 12
    assert len({op for m in models for op in m.operators}) > 90
    assert any(0 in a.shape for m in models for a in m.inputs.values())
    opened = [m for m in models if m.opened is not None]
    assert len(opened) > 20
    name, axis = opened[0].opened or ("", 0)
    lengths = [arrays[name].shape[axis] for arrays in opened[0].calls()]
    assert lengths == [lengths[0], *(lengths[0] + more for more in FURTHER_SIZES)]
