#!/usr/bin/env python3
"""Writes the seeds in corpus/: one for each thing that a target tells apart. Findings lie beside them, as found."""

import struct
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"


def header(kind, payload=0, tag=0, id=0, message=0, context=0, credits=0):
    return struct.pack("<BBHIqIIQ", kind, 0, credits, context, tag, payload, id, message)


def raw(data):
    """Bytes that arrive as they are (frame_stream, store_requests: choice 0)."""
    return b"".join(bytes([0, len(part)]) + part for part in (data[i:i + 255] for i in range(0, len(data), 255)))


def acts(*choices):
    """Calls of this side's user (frame_stream: choice 3)."""
    return b"".join(bytes([3, *choice]) for choice in choices)


def frame_stream():
    receive, send = (1, 4, 0, 1, 1, 0, 0), (0, 4, 0, 0, 0)
    for kind in range(24):
        yield f"kind_{kind}", acts(receive, send) + raw(header(kind, id=1))
    yield "eager_then_receive", raw(header(1, 3, 0, 0, 3) + b"abc") + acts(receive)
    yield "receive_then_eager", acts(receive) + raw(header(1, 3, 0, 0, 3) + b"abc")
    yield "offer_granted", acts(receive) + raw(header(2, 0, 0, 7, 9000))
    yield "offer_and_revoke", raw(header(2, 0, 0, 7, 9000)) + raw(header(4, 0, 0, 7))
    yield "offer_with_key", raw(header(2, 24, 0, 7, 9000) + bytes(24))
    yield "tender_filled", raw(header(22, 24, 0, 7, 3) + bytes(24) + header(16, 3, 0, 7, 3) + b"abc") + acts(receive)
    yield "receive_then_tender", acts(receive) + raw(header(22, 24, 0, 7, 3) + bytes(24) + header(5, 0, 0, 7))
    yield "device_offer_pushed", acts(receive) + raw(header(19, 24, 0, 7, 3) + bytes(24) + header(21, 0, 1, 0))
    yield "device_note", raw(header(20, 24) + bytes(24))
    yield "preference", acts(send) + raw(header(18, 0, 0, 2**32 - 1)) + acts(send)
    yield "large_eager", bytes([1, 1, 0, 0, 0, 3, 0, 9, 0, 0, 2]) + acts(receive)
    yield "send_and_grant", acts(send) + bytes([1, 3, 0, 0, 0, 3, 0, 0, 1, 0, 1, 4])
    for name, size in (("large_data", 8), ("data_beyond_the_grant", 10)):
        data = bytes([1, 4, 0, 0, 0, 1, 0, size, 1, 0, 2])
        yield name, acts(receive) + raw(header(2, 0, 0, 7, 9000)) + data
    yield "abort", acts(receive, send) + raw(header(8, 5, 0, 2) + b"sorry")
    yield "goodbye", acts(receive, send) + raw(header(11))
    yield "stall", acts(receive, (9, 0, 0)) + raw(header(9, 0, 0, 6))
    yield "too_long", raw(header(1, (1 << 20) + 1))
    yield "one_byte_each", b"".join(raw(bytes([b])) for b in header(1, 2, 0, 0, 2) + b"hi")
    yield "probe", raw(header(1, 3, 0, 0, 3) + b"abc") + acts((3, 4, 0, 1, 1, 0, 0), (3, 4, 0, 1, 1, 0, 0, 1, 1))
    yield "expiry", acts(receive, send, (8, 7), (8, 7))


def store_frame(kind, body, id=1, version=1, reserved=0):
    return struct.pack("<IHBBQ", len(body), version, kind, reserved, id) + body


def strings(*items):
    return struct.pack("<I", len(items)) + b"".join(struct.pack("<I", len(item)) + item for item in items)


def request(kind, keys, values=(), timeout_ns=0, delta=0):
    return store_frame(kind, struct.pack("<qq", timeout_ns, delta) + strings(*keys) + strings(*values))


def store_requests():
    a, b = b"a", b"b"
    yield "set_get", raw(request(1, [a], [b"value"]) + request(2, [a]))
    yield "add_twice", raw(request(3, [a], delta=5) + request(3, [a], delta=-7))
    yield "add_to_text", raw(request(1, [a], [b"x"]) + request(3, [a], delta=1))
    yield "compare_set", raw(request(4, [a], [b"", b"1"]) + request(4, [a], [b"1", b"2"]))
    yield "check_remove", raw(request(9, [a, b], [b"1", b"2"]) + request(5, [a, b]) + request(7, [a]))
    yield "wait_then_set", raw(request(6, [a, b], timeout_ns=10**9)) + raw(request(9, [b, a], [b"1", b"2"]))
    yield "wait_expires", raw(request(8, [a, b], timeout_ns=10**9)) + bytes([1, 3])
    yield "many_waits", b"".join(raw(request(2, [a], timeout_ns=10**9)) for _ in range(6))
    yield "large_value", raw(request(1, [a], [bytes(65)]))
    yield "long_frame", raw(struct.pack("<IHBBQ", 2**32 - 1, 1, 1, 0, 1))
    yield "other_version", raw(store_frame(1, b"", version=9))
    yield "http", raw(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    yield "likely", bytes([2, 1, 1, 1, 0, 1, 5]) + b"hello" + bytes([0, 2, 1, 1, 1, 0, 0, 1])


def reply(status, number=0, values=(), missing=(), text=b""):
    body = struct.pack("<q", number) + strings(*values) + struct.pack(f"<I{len(missing)}I", len(missing), *missing)
    return store_frame(status, body + struct.pack("<I", len(text)) + text)


def store_replies():
    def one(command, keys, frame):
        return bytes([1, command, keys, len(frame) - 1]) + frame
    yield "ok", one(0, 1, reply(0))
    yield "value", one(1, 1, reply(0, values=[b"value"]))
    yield "sum", one(2, 1, reply(0, number=-3))
    yield "missing", one(7, 3, reply(2, missing=[0, 2]))
    yield "failed", one(0, 1, reply(1, text=b"the table is full"))
    yield "two_replies", one(7, 2, reply(0, values=[b"a", b"b"]) + reply(0, values=[b"a", b"b"]))
    def text(of):
        return struct.pack("<I", len(of)) + of

    card = struct.pack("<H", 3) + text(b"host-a") + text(b"boot/net:1") + struct.pack("<q", 4711)
    card += text(b"127.0.0.1:1234") + text(b"boot/net:1@name") + text(struct.pack("<HH", 0, 1))
    card += text(b"123456") + text(b"4026531836")
    yield "card", b"\0" + card


def environment():
    for number, text in enumerate(["90s", "30m", "2h", "250ms", "7", "none", "9223372036854775807h", "-1", "1.5s"]):
        yield f"duration_{number}", b"\0" + text.encode()
    for number, text in enumerate(["socket,store", "^env", "all, ^socket", ",,^,", "nobody"]):
        yield f"subsystems_{number}", b"\1" + text.encode()
    yield "name", b"\2PARLEY_TIMOUT"
    for number, text in enumerate(["127.0.0.1:29500?rank=0&world_size=2", "[::1]:1?world_size=1&rank=0", ":1", "a:0",
                                   "a:1?rank=9999999999", "a:1?rank", "host:29500?rank=1&colour=red"]):
        yield f"method_{number}", b"\3\0\0" + text.encode()
    yield "method_env", b"\3\0\0env://"
    yield "method_file", b"\3\0\0file:///tmp/store?rank=0&world_size=2"

    def told(**variables):
        order = ("MASTER_ADDR MASTER_PORT RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE PARLEY_RANK PARLEY_WORLD_SIZE "
                 "PARLEY_LOCAL_RANK PARLEY_STORE TORCHELASTIC_RUN_ID TORCHELASTIC_RESTART_COUNT OMPI_COMM_WORLD_RANK "
                 "OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK PMIX_NAMESPACE PMI_RANK PMI_SIZE PMI_FD PMI_PORT "
                 "MPI_LOCALRANKID SLURM_PROCID SLURM_NTASKS SLURM_LOCALID SLURM_JOB_ID SLURM_STEP_ID "
                 "SLURM_STEP_NODELIST SLURM_STEP_NUM_TASKS SLURM_RESTART_COUNT MPI_LOCALNRANKS").split()
        lines = (bytes([order.index(name)]) + str(value).encode() + b"\n" for name, value in variables.items())
        return b"\4\0\0" + b"".join(lines)
    torch = {"MASTER_ADDR": "10.0.0.1", "MASTER_PORT": 29500}
    yield "variables", told(**torch, RANK=1, WORLD_SIZE=4, LOCAL_RANK=1)
    yield "variables_missing", told(RANK=1)
    yield "variables_bad", told(**{**torch, "MASTER_PORT": 65536}, RANK=-1, WORLD_SIZE=0, LOCAL_RANK="x")
    yield "variables_torchrun", told(**torch, RANK=1, WORLD_SIZE=4, TORCHELASTIC_RUN_ID="a", TORCHELASTIC_RESTART_COUNT=0)
    yield "variables_open_mpi", told(OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=2, PMIX_NAMESPACE=7)
    yield "variables_pmi", told(PMI_RANK=1, PMI_SIZE=2, PMI_FD=7, MPI_LOCALRANKID=1, MPI_LOCALNRANKS=2)
    yield "variables_slurm", told(SLURM_PROCID=1, SLURM_NTASKS=2, SLURM_JOB_ID=3, SLURM_STEP_ID=0,
                                  SLURM_STEP_NODELIST="n[3-5,9],x1", SLURM_STEP_NUM_TASKS=2)
    yield "variables_store", told(PARLEY_RANK=0, PARLEY_WORLD_SIZE=2, PARLEY_STORE="tcp://[::1]:29500")
    for number, text in enumerate(["eth,^docker", "^lo", "=eth0,10.0.0.0/8,fd00::/8", "10.1.2.3", "10.0.0.0/33", ",",
                                   "5000-5099", "r[1-2]n[04-07]-ib"]):
        yield f"interfaces_{number}", b"\5" + text.encode()


# A hello and a challenge with right magic and version, of process 1 for process 2 (or any), without a secret.
HELLO = b"\x89PARLEYH" + struct.pack("<HBBII", 1, 2, 0, 1, 2) + bytes(52)
CHALLENGE = b"\x89PARLEYC" + struct.pack("<HBB", 1, 0, 0) + bytes(36)


def handshake_listener():
    yield "untouched", b"\1"
    yield "hello_changed", b"\1" + bytes(20) + b"\1"
    yield "proof_changed", b"\1" + bytes(72) + b"\x80"
    yield "hello", b"\0" + HELLO
    yield "other_version", b"\0" + HELLO[:8] + b"\2" + HELLO[9:]
    yield "http", b"\0GET / HTTP/1.1\r\n"


def handshake_dialler():
    yield "untouched", b"\1"
    yield "challenge_changed", b"\1" + bytes(40) + b"\1"
    yield "welcome_changed", b"\1" + bytes(48) + b"\5"
    yield "proof_refused", b"\1" + bytes(48) + b"\3"
    yield "challenge", b"\0" + CHALLENGE
    yield "other_version", b"\0" + CHALLENGE[:8] + b"\2" + CHALLENGE[9:]
    yield "tls", b"\0\x15\x03\x03\x00\x02\x02\x28"


def shm_ring():
    write, large, look, release, hand_back = b"\3\0\1\0", b"\3\0\5", b"\5", b"\6", b"\x08"
    in_window, writer_moves, reader_moves = b"\3\1\5", b"\7%c\0", b"\7%c\1"
    for shape in range(3):
        yield f"passed_on_{shape}", bytes([shape]) + (write + large + 2 * (look + release) + hand_back) * 6
    yield "full", b"\0" + write * 6 + look + release + write
    yield "reserve", b"\0" + write * 6 + b"\3\0\0\1" * 2
    yield "released_what_was_not_written", b"\0" + write + bytes([2, 7, 1]) + write * 5
    yield "released_less_than_before", b"\0" + write * 4 + look + release + write + bytes([2, 1, 1]) + write * 2
    for name, lap, length in (("lap_before", 0, 0), ("lap_after", 2, 0), ("empty_chunk", 1, 0), ("largest_chunk", 1, 4),
                              ("beyond_the_largest_chunk", 1, 5), ("longest_length", 1, 6), ("any_length", 1, 7)):
        yield name, bytes([1, 1, lap, 1, 0x41, 0, length]) + look + release + look
        yield f"{name}_in_a_window", b"\1" + reader_moves % 0 + bytes([1, lap, 1, 0x41, 1, length]) + look + release + look
    yield "chunk_in_no_window", bytes([1, 1, 1, 1, 0x41, 1, 4]) + look
    yield "windows_taken_in_turns", b"\1" + b"".join(
        writer_moves % i + reader_moves % i + (in_window + look + release) * 2 + hand_back for i in (0, 1, 0, 1))
    yield "windows_apart", b"\1" + writer_moves % 0 + reader_moves % 1 + (in_window + look + release) * 3 + b"\7\2" + look
    yield "changed_under_the_eyes", b"\1" + write + look + bytes([0, 0, 128, 64]) + b"\xff" * 64 + release + look
    yield "counts_overwritten", b"\0" + write + bytes([0, 0, 0, 16]) + b"\xff" * 16 + write * 5


def object_texts():
    def listed(*texts, sizes=None, tail=b""):
        sizes = [len(text) for text in texts] if sizes is None else sizes
        return struct.pack(f"<{1 + len(sizes)}Q", len(sizes), *sizes) + b"".join(texts) + tail

    yield "empty", listed()
    yield "every_kind", listed(b'"hello"', b"123", b"[1, 2, 3]", b"null", b"true", b'{"a": {"b": -1.5e3}}', b'"\\u00e4"')
    yield "no_json", listed(b"[1, 2", b"{]", b"", b'"\xff"', b"1 2", b"nul")
    yield "deep", listed(b"[" * 64 + b"]" * 64, b"[" * 65, b'{"a":' * 30 + b"1" + b"}" * 30)
    yield "brackets_in_texts", listed(b'["[[[", "\\"]]]"]')
    yield "too_large", listed(b"ab", sizes=[3])
    yield "too_many", struct.pack("<Q", 1 << 61) + bytes(16)
    yield "tail", listed(b"1", tail=b"2")


def main():
    for target in (frame_stream, store_requests, store_replies, environment, handshake_listener, handshake_dialler,
                   object_texts, shm_ring):
        folder = CORPUS / target.__name__
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in target():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
