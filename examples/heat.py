"""Two profiles of a made-up program: heat on a plate, on 8 MPI processes, before (heat.cubex) and after (heat-2.cubex) a change.

usage: python3 examples/heat.py [FOLDER]      writes both files, by default where this one lies

The program is played step by step: a process that exchanges its edges waits for both neighbours, and a reduction for the slowest of all. Rank 3 has a quarter more to compute,
where the plate is finer. The second version writes a checkpoint every tenth step, and its result in parallel rather than through rank 0; its stencil is a little faster.
Same numbers on every machine: nothing is measured, chance is a formula."""
import io
import os
import struct
import sys
import tarfile

RANKS, STEPS, EDGE = 8, 200, 4096 * 8
REGIONS = {  # name: (file, first line, last line, role)
    'main': ('heat.c', 41, 63, 'function'), 'init': ('heat.c', 12, 38, 'function'), 'read_config': ('config.c', 8, 40, 'function'),
    'allocate': ('heat.c', 3, 10, 'function'), 'solve': ('solve.c', 70, 112, 'function'), 'exchange_halo': ('halo.c', 5, 44, 'function'),
    'pack': ('halo.c', 46, 58, 'function'), 'stencil': ('solve.c', 9, 48, 'function'), 'residual': ('solve.c', 50, 68, 'function'),
    'checkpoint': ('output.c', 60, 91, 'function'), 'write_output': ('output.c', 7, 58, 'function'), 'write_file': ('output.c', 93, 120, 'function'),
    **{name: ('MPI', -1, -1, role) for name, role in (
        ('MPI_Init', 'init'), ('MPI_Bcast', 'one2all'), ('MPI_Isend', 'point2point'), ('MPI_Irecv', 'point2point'), ('MPI_Waitall', 'point2point'),
        ('MPI_Allreduce', 'all2all'), ('MPI_Gather', 'all2one'), ('MPI_File_write_all', 'file_io'), ('MPI_Finalize', 'finalize'))}}
TREES = [  # call paths in pre-order, of each version
    '''main main->init main->init->MPI_Init main->init->read_config main->init->read_config->MPI_Bcast main->init->allocate main->solve main->solve->exchange_halo
    main->solve->exchange_halo->pack main->solve->exchange_halo->MPI_Irecv main->solve->exchange_halo->MPI_Isend main->solve->exchange_halo->MPI_Waitall
    main->solve->stencil main->solve->residual main->solve->residual->MPI_Allreduce main->write_output main->write_output->MPI_Gather main->write_output->write_file
    main->MPI_Finalize''',
    '''main main->init main->init->MPI_Init main->init->read_config main->init->read_config->MPI_Bcast main->init->allocate main->solve main->solve->exchange_halo
    main->solve->exchange_halo->pack main->solve->exchange_halo->MPI_Irecv main->solve->exchange_halo->MPI_Isend main->solve->exchange_halo->MPI_Waitall
    main->solve->stencil main->solve->residual main->solve->residual->MPI_Allreduce main->solve->checkpoint main->solve->checkpoint->MPI_File_write_all
    main->write_output main->write_output->MPI_File_write_all main->MPI_Finalize''']


class Run:
    """Clocks of all processes, and what they spent where."""
    def __init__(self, version):
        self.paths = TREES[version].split()
        self.clock, self.chance = [0.0] * RANKS, 12345 + version
        self.time, self.visits, self.sent, self.received = ({p: [0] * RANKS for p in self.paths} for _ in range(4))

    def noise(self, part=0.01):
        self.chance = (self.chance * 1103515245 + 12345) % 2 ** 31
        return 1 + part * (self.chance / 2 ** 30 - 1)

    def work(self, path, seconds, ranks=range(RANKS)):
        for r in ranks:
            spent = (seconds(r) if callable(seconds) else seconds) * self.noise()
            self.clock[r] += spent
            self.time[path][r] += spent
            self.visits[path][r] += 1

    def wait(self, path, until):
        """until: for each rank when it goes on at the earliest."""
        for r in range(RANKS):
            spent = max(until[r] - self.clock[r], 0) + 2e-6 * self.noise(0.3)
            self.clock[r] += spent
            self.time[path][r] += spent
            self.visits[path][r] += 1

    def wait_for_all(self, path, seconds):
        self.wait(path, [max(self.clock) + seconds * self.noise()] * RANKS)


def neighbours(r):
    return [n for n in (r - 1, r + 1) if 0 <= n < RANKS]


def exchange(run):
    halo = 'main->solve->exchange_halo'
    run.work(halo, 1.1e-5)
    run.work(halo + '->pack', 1.6e-4)
    run.work(halo + '->MPI_Irecv', lambda r: 1.2e-5 * len(neighbours(r)))
    run.work(halo + '->MPI_Isend', lambda r: 5.5e-5 * len(neighbours(r)))
    posted = list(run.clock)
    run.wait(halo + '->MPI_Waitall', [max(posted[n] for n in neighbours(r)) + 1.4e-4 for r in range(RANKS)])
    for r in range(RANKS):
        for name in ('->MPI_Irecv', '->MPI_Isend'):
            run.visits[halo + name][r] += len(neighbours(r)) - 1
        run.sent[halo + '->MPI_Isend'][r] += EDGE * len(neighbours(r))
        run.received[halo + '->MPI_Waitall'][r] += EDGE * len(neighbours(r))


def play(version):
    run = Run(version)
    stencil, write = (5.2e-3, 4.9e-3)[version], 'main->write_output'
    run.work('main', 1e-5)
    run.work('main->init', 2e-4)
    run.wait_for_all('main->init->MPI_Init', 0.081)
    run.work('main->init->read_config', lambda r: 6e-3 if r == 0 else 2e-5)
    run.wait_for_all('main->init->read_config->MPI_Bcast', 3e-5)
    run.work('main->init->allocate', 8e-3)
    run.work('main->solve', 4e-5)
    for step in range(STEPS):
        exchange(run)
        run.work('main->solve->stencil', lambda r: stencil * (1.25 if r == 3 else 1))
        run.work('main->solve->residual', 4.4e-4)
        run.wait_for_all('main->solve->residual->MPI_Allreduce', 1.6e-5)
        if version == 1 and step % 10 == 9:
            run.work('main->solve->checkpoint', 7e-4)
            run.wait_for_all('main->solve->checkpoint->MPI_File_write_all', 0.021)
    run.work(write, 5e-5)
    if version == 0:
        run.wait_for_all(write + '->MPI_Gather', 0.012)
        run.work(write + '->write_file', 0.094, [0])
    else:
        run.wait_for_all(write + '->MPI_File_write_all', 0.019)
    run.wait_for_all('main->MPI_Finalize', 0.003)
    return run


# ---------------------------------------------------------------- the file
def wide_order(parents):
    """Which call path each row of an inclusive metric is: from the root on, each hands numbers to all its children."""
    children = [[i for i, p in enumerate(parents) if p == k] for k in range(len(parents))]
    return [0] + [c for k in range(len(parents)) for c in children[k]]


def metric(number, name, title, unit, dtype, kind, about, formula=''):
    derived = f'<cubepl>{formula}</cubepl>' if formula else ''
    return (f'<metric id="{number}" type="{kind}"><disp_name>{title}</disp_name><uniq_name>{name}</uniq_name><dtype>{dtype}</dtype><uom>{unit}</uom><url></url>'
            f'<descr>{about}</descr>{derived}</metric>\n')


def anchor(paths, version):
    out = ['<?xml version="1.0" encoding="UTF-8"?>\n<cube version="4.4">\n<attr key="Creator" value="examples/heat.py"/>\n'
           f'<attr key="Version of heat" value="{version + 1}"/>\n<doc>\n<mirrors>\n</mirrors>\n</doc>\n<metrics>\n',
           metric(0, 'visits', 'Visits', 'occ', 'UINT64', 'EXCLUSIVE', 'Number of visits'), metric(1, 'time', 'Time', 'sec', 'DOUBLE', 'INCLUSIVE', 'Time'),
           metric(2, 'bytes_sent', 'Bytes sent', 'bytes', 'UINT64', 'EXCLUSIVE', 'Bytes sent in point to point messages'),
           metric(3, 'bytes_received', 'Bytes received', 'bytes', 'UINT64', 'EXCLUSIVE', 'Bytes received in point to point messages'),
           metric(4, 'time_per_visit', 'Time per visit', 'sec', 'DOUBLE', 'POSTDERIVED', 'Mean time of a visit', 'metric::time() / metric::visits()'),
           '</metrics>\n<program>\n']
    names = [n for n in REGIONS if any(p.split('->')[-1] == n for p in paths)]
    for i, name in enumerate(names):
        file, begin, end, role = REGIONS[name]
        out.append(f'<region id="{i}" mod="{file}" begin="{begin}" end="{end}"><name>{name}</name><mangled_name>{name}</mangled_name>'
                   f'<paradigm>{"mpi" if file == "MPI" else "compiler"}</paradigm><role>{role}</role><url></url><descr></descr></region>\n')
    depth = 0
    for i, path in enumerate(paths):
        while depth > path.count('->'):
            out.append('</cnode>\n')
            depth -= 1
        out.append(f'<cnode id="{i}" calleeId="{names.index(path.split("->")[-1])}">\n')
        depth += 1
    out.append('</cnode>\n' * depth + '</program>\n<system>\n<systemtreenode Id="0"><name>cluster</name><class>machine</class>\n')
    for node in range(2):
        out.append(f'<systemtreenode Id="{node + 1}"><name>node{node + 1}</name><class>node</class>\n')
        for r in range(node * RANKS // 2, (node + 1) * RANKS // 2):
            out.append(f'<locationgroup Id="{r}"><name>MPI Rank {r}</name><rank>{r}</rank><type>process</type>\n'
                       f'<location Id="{r}"><name>Master thread</name><rank>0</rank><type>thread</type></location>\n</locationgroup>\n')
        out.append('</systemtreenode>\n')
    out.append('</systemtreenode>\n<topologies>\n</topologies>\n</system>\n</cube>\n')
    return ''.join(out).encode()


def profile(version):
    """The bytes of the file."""
    run = play(version)
    paths = run.paths
    parents = [paths.index(p.rpartition('->')[0]) if '->' in p else -1 for p in paths]
    inclusive = [list(run.time[p]) for p in paths]
    for i in range(len(paths) - 1, 0, -1):
        inclusive[parents[i]] = [a + b for a, b in zip(inclusive[parents[i]], inclusive[i])]
    rows = [([run.visits[p] for p in paths], 'Q'), ([inclusive[i] for i in wide_order(parents)], 'd'), ([run.sent[p] for p in paths], 'Q'),
            ([run.received[p] for p in paths], 'Q')]
    members = {}
    for number, (values, code) in enumerate(rows):
        used = [i for i, row in enumerate(values) if any(row)]
        members[f'{number}.index'] = b'CUBEX.INDEX' + struct.pack(f'<iHBI{len(used)}I', 1, 0, 1, len(used), *used)
        members[f'{number}.data'] = b'CUBEX.DATA' + b''.join(struct.pack(f'<{RANKS}{code}', *values[i]) for i in used)
    members['anchor.xml'] = anchor(paths, version)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=tarfile.USTAR_FORMAT) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for version, name in enumerate(('heat.cubex', 'heat-2.cubex')):
        with open(os.path.join(folder, name), 'wb') as f:
            f.write(profile(version))


if __name__ == '__main__':
    main()
