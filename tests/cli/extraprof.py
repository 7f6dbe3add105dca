"""Extra-Prof profiles made by tests: a small writer of MessagePack, and nodes."""
import struct

FUNCTION, LAUNCH, KERNEL, MEMCPY, MEMSET, SYNC, OVERHEAD, OVERLAP, MEMORY = range(9)
ASYNC, OVERLAPS, ROOT = 1, 2, 4


def pack(value):
    if isinstance(value, str):
        text = value.encode()
        return (bytes([0xa0 | len(text)]) if len(text) < 32 else struct.pack('>BH', 0xda, len(text))) + text
    if isinstance(value, float):
        return struct.pack('>Bd', 0xcb, value)
    if isinstance(value, int):
        return bytes([value]) if 0 <= value < 128 else struct.pack('>BQ', 0xcf, value) if value >= 0 else struct.pack('>Bq', 0xd3, value)
    return (bytes([0x90 | len(value)]) if len(value) < 16 else struct.pack('>BI', 0xdd, len(value))) + b''.join(map(pack, value))


def node(name, duration, *children, type_=FUNCTION, flags=0, visits=1, bytes_=0, gpu=None, extended=None):
    """duration, visits and bytes_: numbers, or lists."""
    more = [] if gpu is None and extended is None else [gpu or []]
    return [name, list(children), type_, flags, duration, visits, bytes_] + more + ([] if extended is None else [extended])


def profile(*calls, version='1.0', gpu=None, extended=None):
    lists = gpu is not None or extended is not None
    none = [] if lists else 0
    more = [gpu or []] if lists else []
    return pack(['EXTRA PROF', version, ['', list(calls), FUNCTION, ROOT, none, none, none]] + more + ([extended] if extended is not None else []))


def oldest(*calls):
    return pack(['', list(calls), FUNCTION, ROOT, 0, 0, 0])
