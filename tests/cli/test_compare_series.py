"""assay compare --series: runs in order, change points, the first bad one, exit status."""
import hashlib
import json
import os
import random
import struct
import zlib

from common import Case, main, run

COMMITS = [f'{i:02x}' * 20 for i in range(40)]


def profile(amounts, commit=None, time=None, cmd='bench', workload='big'):
    d = {'header': {'type': 'mixed', 'cmd': cmd, 'workload': workload, 'units': {'mixed(time delta)': 'us'}},
         'collector_info': {'name': 'trace', 'params': {}}, 'postprocessors': [],
         'global': {'resources': [{'type': 'mixed', 'subtype': 'time delta', 'uid': u, 'amount': a} for u, a in amounts.items()]}}
    if commit: d['origin'] = commit
    if time: d['global']['timestamp'] = time
    return json.dumps(d)


def amounts(i, rng, change=13):
    """solve is a quarter slower from run 14 on; io is twice as slow in runs 6 to 9; the rest is noise."""
    return {'solve': 1_200_000 * (1.25 if i >= change else 1) * rng.uniform(0.98, 1.02), 'assemble': 700_000 * rng.uniform(0.96, 1.04),
            'io': 200_000 * (2 if 5 <= i < 9 else 1) * rng.uniform(0.95, 1.05)}


class Series(Case):
    def nightly(self, n=30, change=13, named=lambda i: f'run-{i + 1}.perf', timed=True):
        rng = random.Random(5)
        os.makedirs(self.path('nightly'), exist_ok=True)
        for i in range(n):
            with open(self.path(f'nightly/{named(i)}'), 'w') as f:
                f.write(profile(amounts(i, rng, change), COMMITS[i], 1700000000 + 3600 * i if timed else None))
        return self.path('nightly')

    def subject(self, answer, path):
        return next(s for s in answer['series'][0]['subjects'] if s['callpath'] == path)

    def test_names_the_first_bad_run(self):
        folder = self.nightly()
        r = run('compare', '--series', folder)
        self.assertEqual(1, r.status, r)
        first = r.out.splitlines()[0]
        self.assertRegex(first, r'^Degradation: solve got 2[3-7](\.\d)? % slower at ' + COMMITS[13][:10] + r' \(run 14 of 30\), was 1\.\d+ s, is 1\.\d+ s$')
        self.assertIn('in order of time', r.out)

    def test_json(self):
        r = run('compare', '--series', '--json', self.nightly())
        self.assertEqual(1, r.status, r)
        a = r.json
        self.assertEqual(('degradation', 'time'), (a['outcome'], a['order']))
        self.assertEqual(('solve', 14, COMMITS[13]), (a['first_bad']['callpath'], a['first_bad']['change_point']['run'], a['first_bad']['change_point']['commit']))
        self.assertEqual(30, len(a['series'][0]['runs']))
        solve, io, assemble = (self.subject(a, p) for p in ('solve', 'io', 'assemble'))
        self.assertEqual((14, 30), (solve['since'], len(solve['values'])))
        self.assertAlmostEqual(0.25, solve['change_points'][0]['relative'], delta=0.03)
        self.assertLess(solve['change_points'][0]['adjusted_p'], 0.01)
        # up and back again is no degradation that lasts
        self.assertEqual([6, 10], [p['run'] for p in io['change_points']])
        self.assertEqual(('no change', None), (io['outcome'], io['since']))
        self.assertEqual([], assemble['change_points'])

    def test_no_change(self):
        r = run('compare', '--series', self.nightly(change=99))
        self.assertEqual(0, r.status, r)
        self.assertIn('No degradation that lasts', r.out)

    def test_fail_on(self):
        folder = self.nightly()
        self.assertEqual(0, run('compare', '--series', '--fail-on', 'never', folder).status)
        self.assertEqual(0, run('compare', '--series', '--threshold', '40%', folder).status)

    def test_orders(self):
        # the names are in the order of the bytes, not of the numbers
        folder = self.nightly(timed=False)
        a = run('compare', '--series', '--json', folder).json
        self.assertEqual('name', a['order'])
        self.assertEqual([f'run-{i + 1}.perf' for i in range(30)], [r['name'] for r in a['series'][0]['runs']])
        files = [f'{folder}/run-{i + 1}.perf' for i in range(30)]
        a = run('compare', '--series', '--json', '--order', 'given', *reversed(files)).json
        self.assertEqual(('given', 'run-30.perf'), (a['order'], a['series'][0]['runs'][0]['name']))
        self.assertEqual('optimization', self.subject(a, 'solve')['outcome'])
        r = run('compare', '--series', '--order', 'time', folder)
        self.assertEqual(2, r.status, r)
        self.assertIn('do not say when', r.err)

    def test_order_of_a_file(self):
        folder = self.nightly(named=lambda i: f'{chr(97 + (i * 7) % 26)}{i}.perf')
        with open(self.path('commits'), 'w') as f:
            f.write('# oldest first\n' + ''.join(c[:12] + ' some words\n' for c in COMMITS[2:30]))
        r = run('compare', '--series', '--json', '--order', self.path('commits'), folder)
        self.assertEqual('file', r.json['order'])
        self.assertEqual(COMMITS[2:30], [x['commit'] for x in r.json['series'][0]['runs']])
        self.assertIn('2 of 30 runs are not listed', r.err)
        self.assertEqual(3, run('compare', '--series', '--order', self.path('none'), folder).status)
        self.assertEqual(2, run('compare', '--series', '--order', folder, folder).status)

    def test_groups(self):
        rng = random.Random(2)
        folder = self.nightly()
        for i in range(10):
            with open(f'{folder}/other-{i}.perf', 'w') as f:
                f.write(profile(amounts(0, rng), COMMITS[i], 1700000000 + 3600 * i, workload='small'))
        a = run('compare', '--series', '--json', folder).json
        self.assertEqual([('bench big (trace)', 30), ('bench small (trace)', 10)], sorted((s['group'], len(s['runs'])) for s in a['series']))
        self.assertEqual('bench big (trace)', a['first_bad']['group'])

    def test_few_runs(self):
        r = run('compare', '--series', self.nightly(n=5, change=3))
        self.assertEqual(0, r.status, r)
        self.assertIn('Maybe a degradation', r.out)
        self.assertIn('the threshold alone decides', r.err)
        self.assertEqual(1, run('compare', '--series', '--fail-on', 'maybe', self.path('nightly')).status)

    def test_other_files_and_bad_ones(self):
        folder = self.nightly()
        with open(f'{folder}/notes.txt', 'w') as f: f.write('nothing measured\n')
        r = run('compare', '--series', folder)
        self.assertEqual(1, r.status, r)
        self.assertIn('1 file is no measurement', r.err)
        with open(f'{folder}/run-3.perf', 'w') as f: f.write('{"header": {}, "resources": [1,')
        self.assertEqual(3, run('compare', '--series', folder).status)
        self.assertEqual(2, run('compare', '--series').status)
        self.assertEqual(3, run('compare', '--series', self.path('nowhere')).status)

    def test_store(self):
        """Perun's own files: objects by their hash, an index for each commit, and the log of the repository beside it."""
        rng, root = random.Random(9), self.path('repo')
        order = list(range(20))
        profiles = [profile(amounts(i, rng)).encode() for i in order]
        random.Random(1).shuffle(order)
        for n, i in enumerate(order):  # stored in another order than they were committed in
            content = b'profile mixed %d\0' % len(profiles[i]) + profiles[i]
            sha = hashlib.sha1(content).digest()
            self.put(root, sha.hex(), zlib.compress(content))
            fields = b''.join(struct.pack('<I', len(f)) + f for f in (b'mixed', b'bench', b'big', b'trace', b''))
            self.put(root, COMMITS[i], b'pidx' + struct.pack('<ii', 2, 1) + struct.pack('<I', 1700000000 + n) + sha + b'p%d.perf\0' % i + fields)
        os.makedirs(f'{root}/.perun/jobs')
        a = run('compare', '--series', '--json', f'{root}/.perun').json
        self.assertEqual('time', a['order'])
        self.assertEqual([COMMITS[i] for i in order], [x['commit'] for x in a['series'][0]['runs']])
        os.makedirs(f'{root}/.git/logs')
        with open(f'{root}/.git/logs/HEAD', 'w') as f:
            for i in range(20): f.write(f'{COMMITS[i - 1] if i else "0" * 40} {COMMITS[i]} A <a@b> {1700000000 + i} +0000\tcommit: {i}\n')
        for path in (f'{root}/.perun', root):
            r = run('compare', '--series', '--json', path)
            self.assertEqual(1, r.status, r)
            self.assertEqual('commit', r.json['order'])
            self.assertEqual([(COMMITS[i], f'p{i}.perf') for i in range(20)], [(x['commit'], x['name']) for x in r.json['series'][0]['runs']])
            self.assertEqual((14, COMMITS[13]), (r.json['first_bad']['change_point']['run'], r.json['first_bad']['change_point']['commit']))

    def put(self, root, name, data):
        path = f'{root}/.perun/objects/{name[:2]}/{name[2:]}'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f: f.write(data)


if __name__ == '__main__':
    main()
