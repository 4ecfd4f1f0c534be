#!/usr/bin/env python3
"""The client of the Open Inference Protocol that people have (tritonclient), against the service.

Usage: triton.py ADDRESS (http://HOST:PORT); prints "N passed, M failed"."""

import itertools
import json
import sys
import urllib.request

import ml_dtypes
import numpy as np
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

ADDRESS = sys.argv[1]
client = triton.InferenceServerClient(ADDRESS.removeprefix("http://"))
random = np.random.default_rng(7)
MODEL = "attention"


def ask(body):
    request = urllib.request.Request(f"{ADDRESS}/v1/attention", json.dumps(body).encode())
    return json.load(urllib.request.urlopen(request))


def tensor(name, array, datatype=None, binary=True):
    names = {"float32": "FP32", "float64": "FP64", "float16": "FP16", "bool": "BOOL", "int64": "INT64"}
    made = triton.InferInput(name, array.shape, datatype or names[array.dtype.name])
    made.set_data_from_numpy(array, binary_data=binary)
    return made


def draw(n, m, dtype=np.float32):
    q, k, v = (random.standard_normal((rows, width)).astype(dtype) for rows, width in ((n, 8), (m, 8), (m, 4)))
    return {"q": q, "k": k, "v": v}


def wished(names, binary):
    return [triton.InferRequestedOutput(name, binary_data=way, class_count=0) for name, way in zip(names, binary)]


def tells_of_itself():
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready(MODEL) and client.is_model_ready(MODEL, "1")
    server = client.get_server_metadata()
    assert server["name"] == "attentiond" and "binary_tensor_data" in server["extensions"]
    for version in ("", "1"):
        model = client.get_model_metadata(MODEL, version)
        assert model["versions"] == ["1"]
        assert {"name": "q", "datatype": "FP32", "shape": [-1, -1]} in model["inputs"]
        assert {"output", "weights", "masked", "present_k"} <= {o["name"] for o in model["outputs"]}
        config = client.get_model_config(MODEL, version)
        assert config["max_batch_size"] == 0
        needed = [i["name"] for i in config["input"] if not i.get("optional")]
        assert needed == ["q", "k", "v"] and len(config["input"]) == len(model["inputs"])
    assert client.get_model_repository_index() == [{"name": MODEL, "version": "1", "state": "READY", "reason": ""}]


def mixtures_are_what_v1_says():
    """Every mixture of binary and JSON, packed and plain, in one piece and in blocks."""
    names = ["weights", "output", "masked"]
    for n, m in ((3, 5), (150, 120)):
        arrays = draw(n, m)
        reply = ask({**{k: a.tolist() for k, a in arrays.items()}, "dtype": "float32", "nonfinite": "string",
                     "mask": {"causal": True, "align": "end", "empty_rows": "zero"},
                     "include": ["output", "weights", "steps.masked"]})
        wanted = {"weights": reply["weights"], "output": reply["output"], "masked": reply["steps"]["masked"]}
        wanted = {name: np.array(rows, dtype=float).astype(np.float32) for name, rows in wanted.items()}
        for inputs, outputs in itertools.product(itertools.product((0, 1), repeat=3), repeat=2):
            for packed in (None, "gzip", "deflate"):
                if packed and (sum(inputs) + sum(outputs)) % 2:
                    continue
                result = client.infer(
                    MODEL, [tensor(k, a, binary=bool(way)) for way, (k, a) in zip(inputs, arrays.items())],
                    outputs=wished(names, map(bool, outputs)), request_id="seven",
                    parameters={"causal": True, "align": "end", "empty_rows": "zero"},
                    request_compression_algorithm=packed, response_compression_algorithm=packed)
                assert result.get_response()["id"] == "seven"
                for name in names:
                    assert np.array_equal(result.as_numpy(name), wanted[name]), (n, inputs, outputs, packed, name)


def without_outputs_there_is_output():
    arrays = draw(4, 6, np.float64)
    result = client.infer(MODEL, [tensor(k, a) for k, a in arrays.items()])
    wanted = ask({k: a.tolist() for k, a in arrays.items()})["output"]
    assert result.as_numpy("output").dtype == np.float64 and np.array_equal(result.as_numpy("output"), wanted)


def what_clients_add_is_ignored():
    arrays = draw(4, 6)
    inputs = [tensor(k, a) for k, a in arrays.items()]
    plain = client.infer(MODEL, inputs).as_numpy("output")
    outputs = [triton.InferRequestedOutput("output", binary_data=True)]
    outputs[0]._parameters["classification"] = 0
    result = client.infer(MODEL, inputs, model_version="1", outputs=outputs, sequence_id=5, sequence_start=True,
                          sequence_end=True, priority=2, timeout=1000000, headers={"X-Request-Id": "own"})
    assert np.array_equal(result.as_numpy("output"), plain)


def masks_lists_and_halves():
    arrays = draw(3, 4)
    allow = np.array([[True, False, True, True]] * 3)
    bias = np.array([[0, -np.inf, 1, 2]] * 3, dtype=np.float64)
    lengths = np.array([3])
    inputs = [tensor(k, a) for k, a in arrays.items()]
    for binary in (True, False):
        more = [tensor("allow", allow, binary=binary), tensor("key_lengths", lengths, binary=binary)]
        if binary:
            more.append(tensor("bias", bias))
        masked = client.infer(MODEL, inputs + more, outputs=wished(["masked"], [binary])).as_numpy("masked")
        assert np.isneginf(masked[:, 1]).all() and np.isneginf(masked[:, 3]).all() and np.isfinite(masked[:, 0]).all()
    exact = client.infer(MODEL, inputs).as_numpy("output")
    half = client.infer(MODEL, [tensor(k, a.astype(np.float16)) for k, a in arrays.items()]).as_numpy("output")
    assert half.dtype == np.float16 and np.abs(half - exact).max() < 1e-2
    brain = [tensor(k, a.astype(ml_dtypes.bfloat16), "BF16") for k, a in arrays.items()]
    brain = client.infer(MODEL, brain, outputs=wished(["output"], [True]))
    assert brain.get_output("output")["datatype"] == "BF16"
    assert np.abs(brain.as_numpy("output").astype(np.float32) - exact).max() < 1e-1


def refusals_are_sentences():
    arrays = draw(3, 4)
    inputs = [tensor(k, a) for k, a in arrays.items()]
    wrong = [
        (inputs[:2], {}, "v"),
        (inputs + [tensor("mask", arrays["q"])], {}, 'There is no input "mask"'),
        (inputs[:2] + [tensor("v", arrays["v"].astype(np.float64))], {}, 'Input "v" is of FP64, "q" of FP32'),
        (inputs, {"outputs": wished(["wights"], [True])}, 'did you mean "weights"?'),
        (inputs, {"parameters": {"causl": True}}, 'did you mean "causal"?'),
        (inputs, {"model_version": "2"}, "There is nothing at this path"),
    ]
    for given, more, sentence in wrong:
        try:
            client.infer(MODEL, given, **more)
            raise AssertionError(sentence)
        except InferenceServerException as refused:
            assert sentence in str(refused), refused
    try:
        client.get_model_metadata("resnet")
        raise AssertionError("resnet")
    except InferenceServerException as refused:
        assert "There is nothing at this path" in str(refused)


def statistics_count():
    before = client.get_inference_statistics(MODEL)["model_stats"][0]["inference_stats"]
    arrays = draw(4, 6)
    client.infer(MODEL, [tensor(k, a) for k, a in arrays.items()])
    client.get_model_repository_index()  # the exchange before this one has ended
    after = client.get_inference_statistics(MODEL, "1")["model_stats"][0]
    assert after["inference_stats"]["success"]["count"] == before["success"]["count"] + 1
    assert after["inference_stats"]["fail"]["count"] == before["fail"]["count"]
    assert after["inference_stats"]["success"]["ns"] > before["success"]["ns"] and after["last_inference"] > 0


checks = [tells_of_itself, mixtures_are_what_v1_says, without_outputs_there_is_output, what_clients_add_is_ignored,
          masks_lists_and_halves, refusals_are_sentences, statistics_count]
failed = 0
for check in checks:
    try:
        check()
    except Exception as error:  # told, and counted
        failed += 1
        print(f"failed: {check.__name__}: {type(error).__name__}: {error}")
print(f"{len(checks) - failed} passed, {failed} failed")
sys.exit(failed > 0)
