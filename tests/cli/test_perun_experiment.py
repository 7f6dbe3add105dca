"""Perun profiles with sizes as experiments of other formats: each resource is a repetition at its point."""
import contextlib
import json
import os
import sqlite3
import subprocess
import tempfile
import unittest

ASSAY = os.environ['ASSAY']


def run(*arguments):
    return subprocess.run([ASSAY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


class Convert(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def profile(self, name, resources):
        path = os.path.join(self.folder.name, name)
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'header': {'units': {'time': 's'}, 'cmd': 'c'}, 'resources': resources}, f)
        return path

    def points(self, path):
        result = run('sql', '--json', path, 'select c.name as uid, k.value as x, m.mean, m.repetitions as n from measurement m join context c on c.id = m.context '
                                            'join coordinate k on k.point = m.point order by 1, 2')
        self.assertEqual(0, result.returncode, result.stderr)
        return [(r['uid'], r['x'], r['mean'], r['n']) for r in json.loads(result.stdout)]

    def test_repetitions(self):
        resources = [{'uid': u, 'amount': a, 'structure-unit-size': x} for u, a, x in (('f', 1, 10), ('f', 2.5, 20), ('g', 7, 10), ('f', 3, 10))]
        path = self.profile('p.perf', resources)
        expected = [('f', 10, 2, 2), ('f', 20, 2.5, 1), ('g', 10, 7, 1)]
        self.assertEqual(expected, self.points(path))
        for ending in ('txt', 'json', 'jsonl'):
            out = os.path.join(self.folder.name, 'out.' + ending)
            result = run('convert', path, out)
            self.assertEqual(0, result.returncode, result.stderr)
            self.assertIn('attributes (header:units:time, header:cmd)', result.stderr)
            self.assertEqual(expected, self.points(out), ending)

    def test_keys_that_look_like_ids(self):
        """A resource's own keys may be called as the columns that name other tables."""
        resources = [{'uid': 'f', 'amount': i, 'structure-unit-size': i, 'metric': 10**9, 'context': 10**9 + i, 'point': -1} for i in range(1, 6)]
        a, b = self.profile('a.perf', resources), self.profile('b.perf', resources)
        out = os.path.join(self.folder.name, 'out.jsonl')
        self.assertEqual(0, run('convert', a, out).returncode)
        self.assertEqual(5, len(self.points(out)))
        result = run('merge', a, b, '-o', os.path.join(self.folder.name, 'both.jsonl'))
        self.assertIn(result.returncode, (0, 2, 3), result.stderr)

    def test_frames_of_several_stay_with_their_resources(self):
        def resources(file, uids, key):
            return [{'uid': u, 'amount': x, 'structure-unit-size': x, 'record': 0, key: 1, 'trace': [{'function': u, 'source': file}, {'function': 'main', 'source': file}]}
                    for u in uids for x in (1, 2)]
        a = self.profile('a.perf', resources('a.c', 'fg', 'only_a'))
        b = self.profile('b.perf', resources('b.c', 'fhi', 'only_b'))
        database = os.path.join(self.folder.name, 'both.sqlite')
        self.assertEqual(0, run('convert', a, b, database).returncode)
        statement = 'select r.id, r.uid, r.record, group_concat(f.function || \'@\' || f.source) as path from record r join frame f on f.record = r.id group by 1 order by 1'
        result = run('sql', '--json', a, b, statement)
        self.assertEqual(0, result.returncode, result.stderr)
        owners = [(u, file) for file, uids in (('a.c', 'fg'), ('b.c', 'fhi')) for u in uids for _ in (1, 2)]
        expected = [(i, u, 0, f'{u}@{file},main@{file}') for i, (u, file) in enumerate(owners)]
        self.assertEqual(expected, [tuple(row.values()) for row in json.loads(result.stdout)])
        with contextlib.closing(sqlite3.connect(database)) as written:
            self.assertEqual(expected, written.execute(statement).fetchall())
        result = run('sql', '--json', a, b, 'select id, name, rows, numbers, whose from field')
        fields = json.loads(result.stdout)
        self.assertEqual(list(range(len(fields))), [f['id'] for f in fields])
        counts = {f['name']: (f['rows'], f['numbers']) for f in fields}
        self.assertEqual(len(fields), len(counts), 'each name once')
        self.assertEqual({'uid': (10, 0), 'amount': (10, 10), 'structure-unit-size': (10, 10), 'only_a': (4, 4), 'only_b': (6, 6)},
                         {name: counts[name] for name in ('uid', 'amount', 'structure-unit-size', 'only_a', 'only_b')})


if __name__ == '__main__':
    unittest.main()
