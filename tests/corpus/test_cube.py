"""Real Cube files, files made to be odd, and directories of files, against what pyCubexR, CubeLib and Extra-P make of them (corpus/cube/oracle). ASSAY_CORPUS names the corpus,
else ../shared/corpus beside the repository; without it the test is skipped."""
import json
import math
import os
import subprocess
import sys
import unittest

from oracles import ASSAY, CORPUS

ROOT = os.path.normpath(os.path.join(CORPUS, 'cube'))
NODES = 'select m.name as metric, c.source_id as cnode, n.inclusive, n.exclusive from node n join metric m on m.id = n.metric join context c on c.id = n.context'
VALUES = ('select m.name as metric, c.source_id as cnode, l.source_id as location, v.value from value v join metric m on m.id = v.metric join context c on c.id = v.context '
          'join location l on l.id = v.location')
MEASUREMENTS = '''select c.path, t.name as metric, p.label, m.mean, m.median, m.minimum as min, m.maximum as max, m.std, m.repetitions
    from measurement m join point p on p.id = m.point join metric t on t.id = m.metric join context c on c.id = m.context'''
# CubeLib gives numbers that are not those of the file; the index is longer than the list.
REFUSED_HERE = {'index count too large'}
# CubeLib searches an unsorted list as if it were sorted, and finds nothing.
NOT_CUBELIB = {'sparse: unsorted index 3,1'}


def load(*path):
    with open(os.path.join(ROOT, 'oracle', *path)) as f:
        return json.load(f)


def number(x):
    """Composite values are shown as pyCubexR sums them: COMPLEX by its modulus."""
    if isinstance(x, str) and x.startswith('['):
        parts = json.loads(x)
        return math.hypot(*parts) if len(parts) == 2 else sum(parts)
    return 0.0 if x is None else float(x)


def run(*arguments):
    return subprocess.run([ASSAY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


class Corpus(unittest.TestCase):
    def answer(self, *arguments):
        result = run(*arguments)
        self.assertEqual(0, result.returncode, result.stderr)
        return json.loads(result.stdout)

    def assertClose(self, expected, got, scale, what):
        if abs(expected - got) > max(1e-9 * max(abs(expected), abs(got)), 1e-12 * scale):
            self.fail(f'{what}: expected {expected}, got {got}')

    def check_sums(self, path, oracle):
        nodes = {(r['metric'], r['cnode']): r for r in self.answer('sql', '--json', path, NODES)}
        for m in oracle['metrics']:
            sums = m.get('sum_over_locations', {})
            known = [v for v in sums.get('inclusive', {}).values() if not isinstance(v, str)]
            for word in ('inclusive', 'exclusive'):
                for cnode, expected in sums.get(word, {}).items():
                    if isinstance(expected, str):       # pyCubexR cannot add these
                        continue
                    got = number(nodes.get((m['uniq_name'], cnode), {word: 0})[word])
                    self.assertClose(expected, got, max(map(abs, known)), f'{word} {m["uniq_name"]} of cnode {cnode}')

    def test_files(self):
        names = sorted(n[:-len('.json')] for n in os.listdir(os.path.join(ROOT, 'oracle', 'files')))
        self.assertTrue(names)
        for name in names:
            path = os.path.join(ROOT, 'files', name)
            if not os.path.exists(path):
                continue
            with self.subTest(name):
                oracle, info = load('files', name + '.json'), self.answer('info', '--json', path)
                self.assertEqual((oracle['n_regions'], oracle['n_cnodes'], oracle['n_locations']), (info['regions'], info['contexts'], info['locations']))
                self.assertEqual([(m['uniq_name'], m['dtype'], m['uom'] or '') for m in oracle['metrics']], [(m['name'], m['dtype'], m['unit'] or '') for m in info['metrics']])
                contexts = self.answer('sql', '--json', path, 'select c.source_id, c.name, p.source_id as parent from context c left join context p on p.id = c.parent order by c.id')
                self.assertEqual({(str(c['id']), c['region'], None if c['parent'] is None else str(c['parent'])) for c in oracle['cnodes']},
                                 {(c['source_id'], c['name'], c['parent']) for c in contexts})
                self.check_sums(path, oracle)

    def check_probe(self, path, probe):
        """CubeLib prints exclusive values of each location; assay's stored ones of exclusive metrics must be these, and the sums of all."""
        names = probe['cubelib'][0].split(',')[2:]
        kinds = {m['name']: m['kind'] for m in self.answer('info', '--json', path)['metrics']}
        values = {(r['metric'], r['cnode'], r['location']): r['value'] for r in self.answer('sql', '--json', path, VALUES)}
        nodes = {(r['metric'], r['cnode']): number(r['exclusive']) for r in self.answer('sql', '--json', path, NODES)}
        expected = {}
        for line in filter(None, probe['cubelib'][1:]):
            cnode, location, *row = line.split(',')
            for name, text in zip(names, row):
                expected[name, cnode] = expected.get((name, cnode), 0) + float(text)
                if kinds[name] == 'exclusive':
                    self.assertEqual(float(text), values.get((name, cnode, location), 0), (name, cnode, location))
        for key, total in expected.items():
            self.assertClose(total, nodes.get(key, 0), 0, key)

    def test_probes(self):
        checked = 0
        for probe in load('probes.json'):
            path = os.path.join(ROOT, 'probes', probe['file'])
            if not os.path.exists(path):
                continue
            with self.subTest(probe['probe']):
                read_by_cubelib = probe['cubelib_rc'] == 0 and len(list(filter(None, probe['cubelib']))) > 1
                if read_by_cubelib and probe['probe'] not in REFUSED_HERE | NOT_CUBELIB:
                    self.check_probe(path, probe)
                elif isinstance(probe['pycubexr'], dict) and isinstance(probe['pycubexr']['v'], dict):
                    got = {(r['cnode'], int(r['location'])): r['value'] for r in self.answer('sql', '--json', path, VALUES)}
                    self.assertEqual({(c, i): v for c, row in probe['pycubexr']['v'].items() for i, v in enumerate(row) if v}, {k: v for k, v in got.items() if v})
                else:
                    result = run('sql', '--json', path, 'select * from value')
                    self.assertEqual(3, result.returncode)
                    self.assertRegex(result.stderr, r'\Aassay: [^\n]+\n\Z')
                checked += 1
        self.assertGreater(checked, 0)

    def check_set(self, path, oracle):
        scaling = '-O', 'scaling=' + oracle['scaling']
        self.assertEqual(oracle['parameters'], self.answer('info', '--json', *scaling, path)['parameters'])
        got = {(r['path'], r['metric'], tuple(map(float, r['label'].strip('()').split(',')))): r for r in self.answer('sql', '--json', *scaling, path, MEASUREMENTS)}
        for m in oracle['measurements']:
            for point in m['points']:
                key = m['callpath'], m['metric'], tuple(map(float, point['coordinate']))
                scale = max(abs(point['max']), abs(point['min']))
                for word in ('mean', 'median', 'min', 'max', 'std'):
                    self.assertClose(point[word], got[key][word], scale, (word, key))
                self.assertEqual(point['repetitions'], got[key]['repetitions'], key)

    def test_sets(self):
        checked = 0
        for name in sorted(os.listdir(os.path.join(ROOT, 'oracle', 'sets'))):
            path, oracle = os.path.join(ROOT, 'sets', name.split('.')[0]), load('sets', name)
            if not os.path.isdir(path):
                continue
            with self.subTest(name):
                if 'error' in oracle:
                    self.assertEqual(3, run('info', path).returncode)
                else:
                    self.check_set(path, oracle)
                checked += 1
        self.assertGreater(checked, 0)


if __name__ == '__main__':
    if not os.path.isdir(os.path.join(ROOT, 'oracle')):
        print(f'no corpus at {ROOT}; set ASSAY_CORPUS to test against one')
        sys.exit(77)
    unittest.main()
