"""Profiles of every collector in every format that can be written, and back: what each uid has of each metric stays, or a line says why not. Expected values are those of the profiles."""
import json
import os

from common import Case, main, run
from perun_store import Store, profile

TREES = ('cube', 'hpctoolkit-2021', 'hpctoolkit-4')
EXPERIMENTS = ('extrap-experiment', 'extrap-text', 'extrap-jsonl', 'extrap-json', 'extrap-talpas', 'cube-set')
VALUES = '''select m.name as metric, c.path as path, sum(v.value) as value from value v join metric m on m.id = v.metric
    join context c on c.id = v.context group by 1, 2 having sum(v.value) != 0'''
MEASURED = '''select m.name as metric, c.path as path, p.label as point, x.mean as mean, x.minimum as low, x.maximum as high, x.repetitions as n from measurement x
    join metric m on m.id = x.metric join context c on c.id = x.context join point p on p.id = x.point order by 1, 2, 3'''


def header(kind, units, collector):
    return {'header': {'type': kind, 'units': units, 'cmd': './a', 'workload': 'w'}, 'collector_info': {'name': collector, 'params': {}}, 'postprocessors': []}


def frame(function, line):
    return {'function': function, 'source': 'a.c', 'line': line}


def allocation(amount, trace, subtype='malloc'):
    return {'amount': amount, 'address': 94 * 10**12, 'subtype': subtype, 'type': 'memory', 'trace': trace, 'uid': trace[0]}


DEEP = [frame('f', 5), frame('main', 4), frame('start', 9)]
PROFILES = {  # name: (profile, {(metric, path): value})
    'time': ({**header('time', {'time': 's'}, 'time'), 'global': {'timestamp': 0.5, 'resources': [
        {'amount': amount, 'uid': 'ls', 'order': i + 1, 'subtype': what, 'type': 'time'} for i in range(3) for what, amount in (('real', 0.5 + i), ('user', 0.25), ('sys', 0.125))]}},
        {('time', 'ls'): 5.625}),
    'memory': ({**header('memory', {'memory': 'B'}, 'memory'), 'snapshots': [
        {'time': '0.025', 'resources': [allocation(8, [frame('main', 3), frame('start', 9)]), allocation(0, DEEP, 'free')]}, {'time': '0.05', 'resources': [allocation(16, DEEP)]}]},
        {('memory', 'a.c:start:9->a.c:main:3'): 8, ('memory', 'a.c:start:9->a.c:main:4->a.c:f:5'): 16}),
    'trace': ({**header('mixed', {'mixed': 'us'}, 'trace'), 'resources': {'a#0': {'amount': [10, 20, 30], 'timestamp': [0, 1, 2], 'call-order': [0, 1, 2]}, 'b#0': {'amount': [2**53 - 1], 'timestamp': [1], 'call-order': [0]}},
               'resource_type_map': {f'{uid}#0': {'uid': uid, 'tid': 1, 'type': 'mixed', 'subtype': 'time delta'} for uid in 'ab'}, 'models': []},
              {('mixed', 'a'): 60, ('mixed', 'b'): 2**53 - 1}),
    'bounds': ({**header('time', {'bound': 'iterations'}, 'bounds'), 'global': {'resources': [
        {'uid': {'function': 'f', 'line': 3, 'column': 1, 'source': 'a.c'}, 'bound': 'n + 1', 'class': 'O(n^1)', 'type': 'local bound'}]}}, {}),
    'kperf': ({**header('time', {'sample': 'samples'}, 'kperf'), 'resources': {'leaf#0': {'amount': [7]}, 'leaf#1': {'amount': [5]}},
               'resource_type_map': {'leaf#0': {'uid': 'leaf', 'command': 'a', 'trace': [{'func': 'main'}, {'func': 'g'}]}, 'leaf#1': {'uid': 'leaf', 'command': 'a', 'trace': [{'func': 'main'}]}}},
              {('sample', 'a->main->g->leaf'): 7, ('sample', 'a->main->leaf'): 5}),
    'complexity': ({**header('mixed', {'mixed(time delta)': 'us'}, 'complexity'), 'global': {'time': '1.5', 'resources': [
        {'amount': 3 * n + k, 'structure-unit-size': n, 'subtype': 'time delta', 'type': 'mixed', 'uid': uid} for uid in ('insert', 'find') for n in (1, 2, 4, 8, 16) for k in range(2)]}},
        {('mixed(time delta)', 'insert'): 191, ('mixed(time delta)', 'find'): 191})}


def rows(path, statement):
    result = run('sql', '--json', path, statement)
    assert result.status == 0, result
    return result.json


class Formats(Case):
    def perf(self, name, data):
        return self.write(name + '.perf', json.dumps(data))

    def there(self, path, target, *options):
        """The converted file and the notes, without "cannot hold"."""
        out = self.path(os.path.basename(path) + '.' + target)
        result = run('convert', '--to', target, *options, path, out)
        self.assertEqual(0, result.status, (path, target, result))
        return out, [line.split('cannot hold ')[-1] for line in result.err.splitlines()]

    def back(self, path):
        out = path + '.back.perf'
        result = run('convert', path, out)
        self.assertEqual(0, result.status, (path, result))
        return out

    def test_every_collector_through_call_trees(self):
        for name, (data, values) in PROFILES.items():
            path = self.perf(name, data)
            for target in TREES:
                with self.subTest(profile=name, target=target):
                    units = next(iter(data['header']['units'].values()))
                    got = {}
                    for row in rows(self.back(self.there(path, target)[0]), VALUES):
                        metric = row['metric'].replace(f' ({units})', '') if target != 'cube' else row['metric']  # HPCToolkit's names say their units
                        got[metric, row['path'].replace('main thread->', '')] = row['value']  # version 4 says where threads begin
                    self.assertEqual(values, got)

    def test_sizes_through_experiments(self):
        path = self.perf('complexity', PROFILES['complexity'][0])
        want = rows(path, MEASURED)
        self.assertEqual([('mixed(time delta)', 'find', '(1)', 3.5, 3, 4, 2)], [tuple(r.values()) for r in want[:1]])
        self.assertEqual(10, len(want))
        for target in EXPERIMENTS:
            with self.subTest(target=target):
                out, notes = self.there(path, target)
                self.assertEqual(want, rows(out, MEASURED))
                self.assertEqual(want, rows(self.back(out), MEASURED))
                self.assertIn('20 records with further keys', notes)
                self.assertFalse([n for n in notes if 'without parameters' in n or 'without values' in n], notes)

    def test_no_sizes_no_experiment(self):
        for name, (data, _) in PROFILES.items():
            if name == 'complexity':
                continue
            path = self.perf(name, data)
            for target in EXPERIMENTS:
                with self.subTest(profile=name, target=target):
                    self.assertFails(run('convert', '--to', target, path, self.path('out')), 3, 'no parameters')
                    self.assertNotIn('out', self.files())

    def test_amounts_without_a_size_are_counted(self):
        data = {'header': {'units': {'t': 's'}}, 'resources': [{'uid': 'f', 'type': 't', 'amount': n, 'structure-unit-size': n} for n in (1, 2)] +
                [{'uid': 'f', 'type': 't', 'amount': 3}, {'uid': 'g', 'type': 't', 'amount': 4}, {'uid': 'h', 'type': 't', 'amount': 'none'}, {'amount': 5}]}
        path, other = self.perf('p', data), self.perf('q', data)
        for target in EXPERIMENTS:
            self.assertIn('2 values that are at no point', self.there(path, target)[1])
        for target in TREES:
            self.assertFalse([note for note in self.there(path, target)[1] if 'at no point' in note])
        result = run('convert', path, other, self.path('both.perf'))
        self.assertEqual(0, result.status, result)
        self.assertIn('4 values that are at no point', result.err)
        self.assertEqual(1, run('convert', '--strict', path, other, self.path('strict.perf')).status)
        result = run('sql', '--json', path, other, "select message from problem where rule = 'values-left-out'")
        self.assertEqual(['2 values are at no point of the experiment; left out'] * 2, [r['message'] for r in result.json])

    def test_whole_numbers_beyond_doubles(self):
        path = self.perf('p', {'resources': [{'uid': 'f', 'type': 't', 'amount': 2**60 + 1}]})
        self.assertEqual([2**60 + 1], [r['value'] for r in rows(self.back(self.there(path, 'cube')[0]), VALUES)])
        for target in ('hpctoolkit-2021', 'hpctoolkit-4'):
            self.assertIn('the last digits of 1 value above 2^53', self.there(path, target)[1])

    def test_models_are_counted_apart(self):
        path = self.perf('p', {'resources': [{'uid': 'f', 'type': 't', 'amount': 1, 'trace': DEEP}], 'models': [{'uid': 'f', 'model': 'linear'}]})
        notes = self.there(path, 'cube')[1]
        self.assertIn('1 record with further keys', notes)
        self.assertIn('1 row of the table stored_model', notes)

    def test_integers_stay_integers_in_differences(self):
        base = self.perf('b', {'resources': [{'uid': 'f', 'type': 't', 'amount': 2**60}]})
        target = self.perf('t', {'resources': [{'uid': 'f', 'type': 't', 'amount': 2**60 + 1}]})
        self.assertEqual(1, run('diff', '--json', base, target).json['root']['values']['t']['change']['inclusive'])


class Stores(Case):
    def test_one_profile_of_a_store(self):
        store = Store(self.folder)
        data = [profile('f', (1, 2, 3)), {**profile('g', (5,), kind='time'), 'chunks': {'x': [None]}}]
        store.commit('a' * 40, [('one.perf', 1, data[0]), ('two.perf', 2, data[1])])
        out = self.path('out.perf')
        self.assertFails(run('convert', store.root, out), 3, 'the store has 2', '-O run=0 … 1')
        self.assertNotIn('out.perf', self.files())
        for number in range(2):
            result = run('convert', '-O', f'run={number}', store.root, out)
            self.assertEqual((0, 'assay: note: perun cannot hold more than one of 2 runs\n'), (result.status, result.err))
            with open(out) as f:
                self.assertEqual(data[number], json.load(f))
        self.assertFails(run('convert', '-O', 'run=2', store.root, out), 2, 'no run 2')
        self.assertFails(run('convert', '-O', 'run=-1', store.root, out), 2, 'no run -1')
        self.assertFails(run('convert', '-O', 'run=1', out, self.path('again.perf')), 2, 'store')
        result = run('convert', '-O', 'run=1', '-O', 'layout=old', store.root, out)
        self.assertEqual(0, result.status, result)
        with open(out) as f:
            self.assertEqual([{'amount': 5, 'type': 'time', 'uid': 'g'}], [dict(sorted(r.items())) for r in json.load(f)['global']])

    def test_a_store_of_one(self):
        store = Store(self.folder)
        sizes = profile('f', (1, 2, 3))
        sizes['resources']['f#0']['structure-unit-size'] = [1, 2, 2]
        store.pending([('now.perf', 4000, sizes)])
        self.assertFine(run('convert', '--strict', store.root, self.path('out.perf')))
        with open(self.path('out.perf')) as f:
            self.assertEqual(sizes, json.load(f))


if __name__ == '__main__':
    main()
