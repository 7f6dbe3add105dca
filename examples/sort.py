"""Three Perun profiles of a made-up program that sorts records: before a change (sort-1.perf, and sort-1-again.perf, the same measured again) and after it (sort-2.perf).

usage: python3 examples/sort.py [FOLDER]      writes the files, by default where this one lies

Six functions are called eight times at each of ten sizes. In the second version quick_sort takes the first record as its pivot, and the records come nearly sorted: what
grew with n log n grows with n^2 now. write_report is an eighth faster, check_order is new, and all the rest is as it was but for the noise: a few per cent, and now and then a
call that was interrupted. Same numbers on every machine: nothing is measured, chance is a formula."""
import hashlib
import json
import math
import os
import sys

SIZES = [100, 200, 400, 800, 1600, 3200, 6400, 9600, 12800, 16000]
CALLS = 8
FUNCTIONS = [  # name, microseconds for n records in each version; None: it is not there
    ('parse_options', lambda n: 46, lambda n: 46),
    ('read_records', lambda n: 31 + 0.083 * n, lambda n: 31 + 0.083 * n),
    ('quick_sort', lambda n: 2 + 0.0125 * n * math.log2(n), lambda n: 2 + 0.0125 * n * math.log2(n) + 6.5e-5 * n * n),
    ('check_order', None, lambda n: 1.5 + 0.0016 * n),
    ('find_record', lambda n: 0.8 + 0.36 * math.log(n), lambda n: 0.8 + 0.36 * math.log(n)),
    ('merge_duplicates', lambda n: 4 + 0.021 * n, lambda n: 4 + 0.021 * n),
    ('write_report', lambda n: 58 + 0.112 * n, lambda n: 51 + 0.098 * n)]


class Chance:
    def __init__(self, seed):
        self.state = seed

    def part(self):
        """Uniform in [0, 1)."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (self.state >> 33) / 2 ** 31

    def factor(self):
        """Around 1, with a tail to the right: what a computer adds to the time of a call."""
        near_normal = sum(self.part() for _ in range(12)) - 6
        interrupted = 0.05 + 0.3 * self.part() if self.part() < 0.04 else 0
        return 1 + 0.018 * near_normal + 0.012 * abs(near_normal) + interrupted


def profile(version, seed=None):
    chance = Chance(2024 + version if seed is None else seed)
    resources, types = {}, {}
    for name, *laws in FUNCTIONS:
        law = laws[version]
        if law is None:
            continue
        sizes = [n for n in SIZES for _ in range(CALLS)]
        resources[name + '#0'] = {'amount': [round(law(n) * chance.factor(), 2) for n in sizes], 'structure-unit-size': sizes}
        types[name + '#0'] = {'subtype': 'time delta', 'type': 'mixed', 'uid': name}
    return {
        'origin': hashlib.sha1(b'sort, version %d' % (version + 1)).hexdigest(),
        'header': {'type': 'mixed', 'units': {'mixed(time delta)': 'us'}, 'cmd': './sort --report', 'workload': 'records.txt'},
        'collector_info': {'name': 'complexity', 'params': {'sampling': [], 'rules': [name for name, *_ in FUNCTIONS], 'calls': CALLS}},
        'postprocessors': [],
        'machine': {'architecture': 'x86_64', 'system': 'Linux', 'release': '6.1.0', 'host': 'bench', 'cpu': {'physical': 8, 'total': 16, 'frequency': '3400.00 MHz'},
                    'memory': {'total_ram': '31.3 GiB', 'swap': '1.0 GiB'}},
        'resources': resources, 'resource_type_map': types, 'models': []}


def text_of(value, depth=0):
    """As Perun writes it: a line for each member, lists of numbers on one."""
    inner = '  ' * (depth + 1)
    if isinstance(value, dict) and value:
        return '{\n' + ',\n'.join(f'{inner}{json.dumps(k)}: {text_of(v, depth + 1)}' for k, v in value.items()) + '\n' + '  ' * depth + '}'
    return json.dumps(value)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for name, made in (('sort-1', profile(0)), ('sort-1-again', profile(0, seed=1984)), ('sort-2', profile(1))):
        with open(os.path.join(folder, name + '.perf'), 'w', encoding='ascii', newline='\n') as file:
            file.write(text_of(made) + '\n')


if __name__ == '__main__':
    main()
