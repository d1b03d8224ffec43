"""Traffic patterns: `training`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["training"]

CollectiveAlgorithm = Literal[
    "ring",
    "double_binary_tree",
    "tree",
    "halving_doubling",
    "recursive_doubling",
    "bruck",
    "pairwise",
    "spread",
    "direct",
    "hierarchical",
]
Placement = Literal["packed", "random", "rail_aware", "file"]
Protocol = Literal["none", "simple", "ll", "ll128"]


def training(
    *,
    layers: int,
    hidden: int,
    sequence: int,
    batch: int,
    tflops: float,
    label: str | None = None,
    priority: int | None = None,
    nic: Literal["round_robin", "hash"] | int | None = None,
    connection: Literal["per_message", "per_pair", "per_process_pair"] | int | None = None,
    start: Time | None = None,
    hosts: str | Sequence[str] | None = None,
    ranks_per_host: int | None = None,
    placement: Placement | None = None,
    placement_file: str | None = None,
    tensor: int | None = None,
    pipeline: int | None = None,
    data: int | None = None,
    expert: int | None = None,
    micro_batch: int | None = None,
    vocabulary: int | None = None,
    experts: int | None = None,
    top_k: int | None = None,
    expert_interval: int | None = None,
    activation_bytes: int | None = None,
    gradient_bytes: int | None = None,
    recompute: bool | None = None,
    optimizer: Time | None = None,
    buckets: int | None = None,
    sharded: bool | None = None,
    algorithm: CollectiveAlgorithm | None = None,
    channels: int | None = None,
    chunk: Bytes | None = None,
    protocol: Protocol | None = None,
    local_rate: Rate | None = None,
    local_delay: Time | None = None,
    overhead: Time | None = None,
    iterations: int | None = None,
    stragglers: Sequence[Mapping[str, object]] | None = None,
    jitter: float | None = None,
) -> Table:
    """Training of a transformer: iterations with the communication of its parallelism.

    Parameters
    ----------
    layers
        Layers of the transformer.
    hidden
        Hidden size: elements of a token's vector.
    sequence
        Tokens in a sequence.
    batch
        Sequences in an iteration, over all replicas.
    tflops
        Floating-point operations that a rank achieves in a second, in 10^12 (TFLOP/s): its peak times the share that
        its kernels reach.
    label
        Name of the job, and of the group of its flows in the results; without it, the pattern's name.
    priority
        Traffic class, 0 to 7.
    nic
        Hosts with several NICs: which one each connection takes at its sender; without it, as `placement` or
        `host.nic` says.
    connection
        Which messages share a connection, and so its congestion control: all from a rank to another that go over one
        channel (`"per_process_pair"`), all from a host to another (`"per_pair"`), none (`"per_message"`), or this
        many connections from a host to another take them in turn (a number).
    start
        When the first iteration starts.
    hosts
        Hosts that the job may have; it takes as many as its ranks need.
    ranks_per_host
        Ranks (GPUs) on each host.
    placement
        Which hosts the ranks get: `packed`, `random`, `rail_aware`, or `file`.
    placement_file
        For `placement = "file"`: path of a file with the name of a host in each line, that of rank 0 first. `#`
        begins a comment.
    tensor
        Tensor parallelism: ranks that share each layer.
    pipeline
        Pipeline parallelism: stages, each with an equal part of the layers.
    data
        Data parallelism: replicas of the model, each with an equal part of the batch.
    expert
        Expert parallelism: ranks among which the experts of a layer are divided; a divisor of `data`.
    micro_batch
        Sequences in a micro-batch of a replica.
    vocabulary
        Size of the vocabulary, for the embedding of the first stage and the logits of the last one; without it,
        neither counts.
    experts
        Experts in each layer that has experts; without it, layers have none.
    top_k
        Experts to which a token goes.
    expert_interval
        Every how many layers one has experts.
    activation_bytes
        Bytes of an element of activations.
    gradient_bytes
        Bytes of an element of gradients, as they are summed over replicas.
    recompute
        Whether the backward pass computes the activations again, which is a forward pass more.
    optimizer
        Time of the optimizer's step.
    buckets
        Parts in which the gradients are summed: each as soon as the last backward pass has computed it. With 1, the
        sum waits for the whole pass.
    sharded
        Whether replicas divide the optimizer's state among them (ZeRO stage 1): gradients go by reduce-scatter, and
        parameters by all-gather after the optimizer's step, in place of one all-reduce.
    algorithm
        The algorithm of the all-reduce of gradients; without it, `ring`.
    channels
        Channels of a collective: parallel rings or trees, each for an equal part of the data, from 1 to 64.
    chunk
        Maximum size of a collective's message: a rank forwards a chunk when that chunk has arrived. Without it,
        messages are not divided.
    protocol
        How data go over the wire: NCCL's protocols add bytes and a latency to each step.
    local_rate
        Rate at which a rank sends to ranks of its host (NVLink), without the network; without it, such messages take
        only `local_delay`.
    local_delay
        Delay of messages among ranks of one host.
    overhead
        Time from the arrival of a message to the receiver's next action.
    iterations
        Iterations, one after the other.
    stragglers
        Ranks that compute more slowly than the others.
    jitter
        Each pass of each rank takes its time times a number drawn between 1 - `jitter` and 1 + `jitter`; from 0 to
        0.9.
    """
    return table(
        {
            "pattern": "training",
            "layers": layers,
            "hidden": hidden,
            "sequence": sequence,
            "batch": batch,
            "tflops": tflops,
            "label": label,
            "priority": priority,
            "nic": nic,
            "connection": connection,
            "start": start,
            "hosts": hosts,
            "ranks_per_host": ranks_per_host,
            "placement": placement,
            "placement_file": placement_file,
            "tensor": tensor,
            "pipeline": pipeline,
            "data": data,
            "expert": expert,
            "micro_batch": micro_batch,
            "vocabulary": vocabulary,
            "experts": experts,
            "top_k": top_k,
            "expert_interval": expert_interval,
            "activation_bytes": activation_bytes,
            "gradient_bytes": gradient_bytes,
            "recompute": recompute,
            "optimizer": optimizer,
            "buckets": buckets,
            "sharded": sharded,
            "algorithm": algorithm,
            "channels": channels,
            "chunk": chunk,
            "protocol": protocol,
            "local_rate": local_rate,
            "local_delay": local_delay,
            "overhead": overhead,
            "iterations": iterations,
            "stragglers": stragglers,
            "jitter": jitter,
        }
    )
