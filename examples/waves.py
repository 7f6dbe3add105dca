"""Extra-Prof profiles of a made-up program: waves on a grid of n x n points, computed on a GPU, for five sizes (waves-extra-prof/waves.n256 … waves.n4096).

usage: python3 examples/waves.py [FOLDER]      writes the directory, by default where this file lies

A step is two kernels, for the inside (n^2) and for the border (n); every tenth, the border is copied to the host while the next step runs, and a second thread writes it to a file.
Same numbers on every machine: nothing is measured."""
import os
import struct
import sys

STEPS, FRAMES = 100, 10
INSIDE, BORDER = '_Z6insideIdEvPKT_PS0_i', '_Z6borderIdEvPT_i'
FUNCTION, LAUNCH, KERNEL, MEMCPY, MEMSET, SYNC, OVERHEAD, OVERLAP, MEMORY = range(9)
ASYNC, OVERLAPS, ROOT = 1, 2, 4


def pack(value):
    """Texts, natural numbers and lists as MessagePack."""
    if isinstance(value, str):
        text = value.encode()
        return (bytes([0xa0 | len(text)]) if len(text) < 32 else struct.pack('>BB', 0xd9, len(text))) + text
    if isinstance(value, int):
        code, form = next((c, f) for c, f in ((None, '>B'), (0xcc, '>B'), (0xcd, '>H'), (0xce, '>I'), (0xcf, '>Q'))
                          if value < (128 if c is None else 256 ** struct.calcsize(f)))
        return (b'' if code is None else bytes([code])) + struct.pack(form, value)
    return (bytes([0x90 | len(value)]) if len(value) < 16 else struct.pack('>BH', 0xdc, len(value))) + b''.join(map(pack, value))


def node(name, type_, duration, visits, *children, flags=0, bytes_=0, gpu=0):
    """Durations in nanoseconds; the CPU takes 60 W, the GPU 10 W and another 190 W while it computes (gpu: so long)."""
    durations, visits = ([x] if isinstance(x, int) else x for x in (duration, visits))
    busy = sum(durations)
    energies = [[busy * 60 // 1000 if type_ in (FUNCTION, LAUNCH, SYNC, MEMORY) else 0], [(busy * 10 + gpu * 190) // 1000]]
    return [name, list(children), type_, flags, durations, visits, [bytes_] * len(durations), [], energies]


def overlap(duration, partner, type_):
    return node('OVERLAP', OVERLAP, duration, 0, node(partner, type_, duration, 0, flags=OVERLAPS), flags=OVERLAPS)


def profile(n):
    inside, border, copy, launches = n * n * 4 * STEPS // 10, n * 9 * STEPS, n * 8 * FRAMES, 4200 * STEPS
    copied, wait, up, write, output = 900 * FRAMES, inside + border - 2 * launches - 9000, n * n // 3, n * 25 * FRAMES, 40000
    setup, solve = 2292000 + n * n // 2 + up, 2 * launches + copied + wait + 30 * STEPS
    return node('main', FUNCTION, setup + solve + write + output + 400000, 1, node(
        'setup(int)', FUNCTION, setup, 1,
        node('cudaMalloc', MEMORY, 180000, 2),
        node('cudaMemcpy', FUNCTION, up + 12000, 1, node('Memcpy HtoD', MEMCPY, up, 1, bytes_=8 * n * n))), node(
        'solve<double>(int, int)', FUNCTION, solve, 1,
        node(INSIDE, LAUNCH, launches, STEPS,
             node(INSIDE, KERNEL, inside, STEPS, overlap(copy * 9 // 10, 'Memcpy Async DtoH', MEMCPY), flags=ASYNC, gpu=inside)),
        node(BORDER, LAUNCH, launches, STEPS, node(BORDER, KERNEL, border, STEPS, flags=ASYNC, gpu=border)),
        node('cudaMemcpyAsync', FUNCTION, copied, FRAMES,
             node('Memcpy Async DtoH', MEMCPY, copy, FRAMES, overlap(copy * 9 // 10, INSIDE, KERNEL), flags=ASYNC, bytes_=8 * 4 * n * FRAMES)),
        node('cudaDeviceSynchronize', FUNCTION, wait, 1, node('CONTEXT', SYNC, wait * 99 // 100, 1, overlap(wait * 95 // 100, INSIDE, KERNEL)))), node(
        'write_frame(int)', FUNCTION, [write, output], [FRAMES, 1]))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for n in (256, 512, 1024, 2048, 4096):
        point = os.path.join(folder, 'waves-extra-prof', f'waves.n{n}')
        os.makedirs(point, exist_ok=True)
        root = ['', [profile(n)], FUNCTION, ROOT, [], [], [], [], [[0], [0]]]
        with open(os.path.join(point, 'profile.extra-prof.msgpack'), 'wb') as f:
            f.write(pack(['EXTRA PROF', '1.0', root, [], [['energy_cpu', 1], ['energy_gpu', 2]]]))


if __name__ == '__main__':
    main()
