"""Every member of a front that is explored for a runtime can be deployed to it as it is."""

import pytest

import paretosoc as dse
from paretosoc.dse.tools.deploy.deploy import fitting_targets
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.results.deploy.deployment import Deployment

BOARDS = [name for name in platform_names() if name.startswith(("jetson", "rk3588"))]
WORKLOADS = [
    *(["vgg19", "resnet50"], ["squeezenet*2", "mobilenet_v2"], ["vit_b_16"], ["swin_t"]),
    *(["tiny_yolo", "efficientnet_b0"], ["densenet121"], ["inception_v4", "bert-tiny"]),
    *(["yolov8n"], ["fcn_resnet18", "googlenet"], ["shufflenet", "zfnet512"], ["minilm-l6"]),
    *(["mobilenet_v3_small", "convnext_tiny"], ["mnasnet0_5", "regnet_y_400mf"], ["maxvit_t"]),
    *(["resnext50_32x4d"], ["mobilenet_ssd", "emotion_ferplus"], ["inception_resnet_v2"]),
    *(["alexnet", "inception_v3", "resnet18"], ["qwen2-0.5b"], ["swin_v2_t", "yolo11n"]),
]


def refused(front, runtime):
    """Members that the runtime does not take, with the reasons."""
    chip = load_platform(front.numeric.provenance.platform)
    reasons = (
        fitting_targets(Deployment(front.numeric, member.index, chip, front.costs))[runtime]
        for member in front
    )
    return [reason for reason in reasons if reason]


def explored(workload, board, **options):
    return dse.explore(workload, board, groups=4, max_evaluations=80, seed=1, **options)


@pytest.mark.parametrize("place", range(len(BOARDS)), ids=BOARDS)
def test_default_fronts(place):
    """Of half of the workloads on each board: neighbours in the alphabet share all of them."""
    board = BOARDS[place]
    for workload in WORKLOADS[place % 2 :: 2]:
        front = explored(workload, board)
        runtime = front.numeric.problem.runtime
        assert runtime == ("rknn" if board.startswith("rk") else "trtexec")
        assert len(front)
        assert refused(front, runtime) == [], workload


@pytest.mark.parametrize("runtime", ["triton", "deepstream", "onnxruntime", "openvino"])
def test_other_runtimes(runtime, tmp_path):
    front = explored(["vgg19", "resnet50", "squeezenet"], "jetson-agx-xavier", runtime=runtime)
    assert refused(front, runtime) == []
    small = explored(["squeezenet"], "jetson-agx-xavier", runtime=runtime)
    for member in small:
        dse.deploy(small, runtime, tmp_path / str(member.index), member=member.index, check=False)
