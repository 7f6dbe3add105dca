"""Perun profiles out: any measurement as a profile, layouts there and back, what is lost. Expected values come from the inputs, read by Python's json or by hand."""
import json
import os
import zlib

from common import SMALL, Case, main, run

EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')
HEAT, DATABASE, KERNELS = (os.path.join(EXAMPLES, name) for name in ('heat.cubex', 'heat-hpctoolkit', 'kernels.txt'))
VALUES = '''select m.name as metric, c.path as path, sum(v.value) as value from value v join metric m on m.id = v.metric
    join context c on c.id = v.context group by 1, 2'''
MEASURED = '''select m.name as metric, c.path as path, p.label as point, x.mean as mean, x.minimum as low, x.maximum as high, x.repetitions as n from measurement x
    join metric m on m.id = x.metric join context c on c.id = x.context join point p on p.id = x.point order by 1, 2, 3'''
HEADER = {'header': {'type': 'mixed', 'units': {'mixed': 'us'}, 'cmd': 'c', 'workload': 'w'}, 'collector_info': {'name': 'x', 'params': {}}}


def rows(path, statement, *options):
    result = run('sql', '--json', *options, path, statement)
    assert result.status == 0, result
    return result.json


def nodes(node, metric, path=()):
    """{path: exclusive value} of a tree."""
    path = path + (node['name'],) if node.get('path') else path
    out = {}
    value = node['values'].get(metric) if path else None
    if value and value['exclusive']:
        out['->'.join(path)] = value['exclusive']
    for child in node['children']:
        out.update(nodes(child, metric, path))
    return out


class Convert(Case):
    def convert(self, *args, notes=None):
        result = run('convert', *args)
        self.assertEqual(0, result.status, result)
        if notes is not None:
            self.assertEqual(notes, [line.split('note: ', 1)[1] for line in result.err.splitlines()])
        with open(args[-1], encoding='utf-8') as f:
            return json.load(f)

    # ---- other formats

    def test_call_trees_keep_their_values(self):
        out = self.path('heat.perf')
        made = self.convert(HEAT, out)
        self.assertEqual({'visits': 'occ', 'time': 'sec', 'bytes_sent': 'bytes', 'bytes_received': 'bytes'}, made['header']['units'])
        self.assertEqual(('mixed', 'cube', []), (made['header']['type'], made['collector_info']['name'], made['postprocessors']))
        for metric in ('time', 'visits', 'bytes_sent'):
            want, got = (nodes(run('tree', '--json', '--metric', metric, path).json['root'], metric) for path in (HEAT, out))
            self.assertEqual(set(want), set(got))
            for path, value in want.items():
                self.assertAlmostEqual(value, got[path], delta=1e-12 * abs(value))
        same = run('diff', '--json', HEAT, out)
        self.assertEqual(0, same.status, same)
        self.assertIn('no call path changed', run('diff', HEAT, out).out)

    def test_call_paths_are_as_perun_reads_them(self):
        made = self.convert(HEAT, self.path('heat.perf'))
        stencil = [p for p in made['resource_type_map'].values() if p['uid'] == 'stencil' and p['type'] == 'time'][0]
        self.assertEqual({'uid': 'stencil', 'type': 'time', 'trace': [{'func': 'main'}, {'func': 'solve'}], 'source': 'solve.c', 'line': 9}, stencil)
        self.assertEqual(set(made['resources']), set(made['resource_type_map']))
        numbers = {}
        for name, properties in made['resource_type_map'].items():
            uid, _, number = name.rpartition('#')
            self.assertEqual((properties['uid'], numbers.get(uid, 0)), (uid, int(number)))
            numbers[uid] = int(number) + 1

    def test_lines_of_databases_do_not_count_twice(self):
        out = self.path('database.perf')
        self.convert(DATABASE, out)
        total = run('tree', '--json', DATABASE).json['root']['values']['CPUTIME (sec)']['inclusive']
        written = sum(r['value'] for r in rows(out, VALUES) if r['metric'] == 'CPUTIME (sec)')
        self.assertAlmostEqual(total, written, delta=1e-9 * total)

    def test_lines_of_databases_count_for_their_calls(self):
        """Traces are of calls, so that a profile compares with what it was made of."""
        out = self.path('database.perf')
        made = self.convert(DATABASE, out)
        names = {p['uid'] for p in made['resource_type_map'].values()} | {frame['func'] for p in made['resource_type_map'].values() for frame in p['trace']}
        self.assertIn('stencil', names)
        self.assertFalse([name for name in names if name.startswith(('line ', 'loop '))])
        self.assertIn('lines and loops of calls (their values count for the calls)', run('convert', DATABASE, self.path('again.perf')).err)
        changes = run('compare', '--json', '--all', DATABASE, out)
        self.assertEqual(0, changes.status, changes)
        self.assertIn('no change: 15 call paths', run('compare', DATABASE, out).out)

    def test_experiments_keep_their_measurements(self):
        out = self.path('kernels.perf')
        made = self.convert(KERNELS, out, notes=['the parameter n is called structure-unit-size in a profile'])
        self.assertEqual(['n'], made['collector_info']['params']['parameters'])
        sort = made['resources']['main->sort#0']
        self.assertEqual([128] * 5, sort['structure-unit-size'][:5])
        want, got = ({(r['metric'], r['path'], r['point']): r for r in rows(path, MEASURED)} for path in (KERNELS, out))
        self.assertEqual(set(want), set(got))
        for key, a in want.items():
            for column in ('mean', 'low', 'high', 'n'):
                self.assertAlmostEqual(a[column], got[key][column], delta=1e-12 * abs(a[column]))

    def test_several_parameters_are_keys(self):
        made = self.convert(self.write('small.txt', SMALL.replace('PARAMETER n', 'PARAMETER amount')), self.path('small.perf'), notes=[])
        self.assertEqual({'amount': [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5], 'p': [1, 1, 2, 2, 1, 1, 2, 2], 'parameter amount': [10, 10, 10, 10, 20, 20, 20, 20]},
                         made['resources']['main->sort#0'])

    def test_old_layout_of_others(self):
        new, old = self.path('new.perf'), self.path('old.perf')
        self.convert(HEAT, new)
        made = self.convert('-O', 'layout=old', HEAT, old)
        self.assertEqual(sum(len(c['amount']) for c in self.convert(HEAT, new)['resources'].values()), len(made['global']['resources']))
        self.assertEqual(rows(new, VALUES), rows(old, VALUES))

    def test_contexts_of_zeros_stay(self):
        text = self.write('zero.txt', 'PARAMETER p\nPOINTS 1 2\nMETRIC time\nREGION a\nDATA 0\nDATA 0\n')
        self.assertEqual({'amount': [0.0, 0.0], 'structure-unit-size': [1, 2]}, {k: [float(x) if k == 'amount' else x for x in v] for k, v in
                                                                                self.convert(text, self.path('zero.perf'))['resources']['a#0'].items()})

    def test_models_that_perun_has_words_for(self):
        points = range(1, 9)
        lines = ['PARAMETER n', 'POINTS ' + ' '.join(map(str, points)), 'METRIC time']
        laws = {'linear': lambda n: 3 + 2 * n, 'quadratic': lambda n: 5 + n * n, 'steady': lambda n: 7, 'cubic': lambda n: 1 + n ** 3}
        for name, law in laws.items():
            lines += [f'REGION {name}'] + [f'DATA {law(n)}' for n in points]
        modelled, out = self.path('m.extra-p'), self.path('m.perf')
        self.assertEqual(0, run('model', self.write('laws.txt', '\n'.join(lines) + '\n'), '-o', modelled).status)
        result = run('convert', modelled, out)
        self.assertIn('1 model that Perun has no word for', result.err)
        with open(out) as f:
            models = {m['uid']: m for m in json.load(f)['models']}
        self.assertEqual({'linear': 'linear', 'quadratic': 'quadratic', 'steady': 'constant'}, {uid: m['model'] for uid, m in models.items()})
        for uid, coefficients in (('linear', [3, 2]), ('quadratic', [5, 0, 1]), ('steady', [7, 0])):
            for want, got in zip(coefficients, models[uid]['coeffs']):
                self.assertAlmostEqual(want, got['value'], places=6)
            self.assertEqual((1, 8), (models[uid]['x_start'], models[uid]['x_end']))
            self.assertAlmostEqual(1, models[uid]['r_square'], places=6)

    def test_losses_are_said(self):
        result = run('convert', HEAT, self.path('x.perf'))
        self.assertIn('8 locations (their values are added up)', result.err)
        self.assertIn('1 metric that is computed from others', result.err)
        refused = run('convert', '--strict', HEAT, self.path('strict.perf'))
        self.assertEqual(1, refused.status)
        self.assertNotIn('strict.perf', self.files())

    def test_attributes_become_metadata(self):
        made = self.convert(HEAT, self.path('x.perf'))
        self.assertIn({'name': 'Creator', 'value': 'examples/heat.py'}, made['metadata'])

    # ---- profiles

    def old_profile(self):
        def resource(uid, amount, **more):
            return {'uid': uid, 'amount': amount, 'type': 'mixed', **more}
        return {**HEADER, 'snapshots': [
            {'time': '0.1', 'resources': [resource('a', 1), resource('b', 2.0), resource('a', 3)], 'models': [{'uid': 'a', 'model': 'constant'}]},
            {'time': '0.2', 'resources': []},
            {'time': '0.3', 'resources': [resource({'source': 's', 'function': 'f', 'line': 1}, 4, order=1), resource('a', None)]}],
            'chunks': {'x': [1, None]}, 'models': [{'uid': 'b', 'model': 'linear'}]}

    def test_there_and_back(self):
        original = self.old_profile()
        path, new, back = self.write('old.perf', json.dumps(original)), self.path('new.perf'), self.path('back.perf')
        made = self.convert('-O', 'layout=new', path, new, notes=['in the new layout resources stand type by type, no longer in the order of the file'])
        self.assertEqual([{'uid': 'b', 'model': 'linear'}, {'uid': 'a', 'model': 'constant', 'snapshot': 0}], made['models'])
        self.assertEqual({'x': [1, None]}, made['chunks'])
        again = self.convert('-O', 'layout=old', new, back, notes=[])
        self.assertEqual(['0.1', '0.2', '0.3'], [s['time'] for s in again['snapshots']])
        for before, after in zip(original['snapshots'], again['snapshots']):
            self.assertEqual(sorted(map(json.dumps, (dict(sorted(r.items())) for r in before['resources']))),
                             sorted(map(json.dumps, (dict(sorted(r.items())) for r in after['resources']))))
        statement = 'select uid, amount, snapshot, time, "order" from record order by uid, snapshot, amount'
        self.assertEqual(rows(path, statement), rows(new, statement))
        self.assertEqual(rows(path, statement), rows(back, statement))
        models = 'select uid, model, snapshot from stored_model'
        self.assertEqual(rows(path, models), rows(new, models))
        self.assertEqual(rows(path, models), rows(back, models))

    def test_order_that_stays_needs_no_remark(self):
        path = self.write('o.perf', json.dumps({**HEADER, 'resources': [{'uid': 'a', 'amount': 1}, {'uid': 'a', 'amount': 2}, {'uid': 'b', 'amount': 3}]}))
        self.convert('-O', 'layout=new', path, self.path('n.perf'), notes=[])

    def test_strings_are_not_touched(self):
        text = '{"header": {"cmd": "f(a,   3) \\u00fc \\/ \\ud83d\\ude00"}, "resources": [{"uid": "\\u0061\\n", "amount": 1e3}]}'
        path, out = self.write('s.perf', text), self.path('t.perf')
        self.convert('--strict', path, out, notes=[])
        self.assertIn(b'"f(a,   3) \\u00fc \\/ \\ud83d\\ude00"', self.read('t.perf'))
        self.assertIn(b'[{"uid": "\\u0061\\n", "amount": 1e3}]', self.read('t.perf'))

    def test_from_standard_input_and_to_output(self):
        text = json.dumps(self.old_profile())
        result = run('convert', '--from', 'perun', '--to', 'perun', '-', '-', stdin=text)
        self.assertFine(result)
        self.assertEqual(json.loads(text), result.json)

    def test_stored_objects_become_plain(self):
        text = json.dumps(self.old_profile())
        stored = self.write('object', zlib.compress(f'profile mixed {len(text)}\0{text}'.encode()))
        self.assertEqual(json.loads(text), self.convert(stored, self.path('plain.perf'), notes=[]))

    def test_wrong_layout(self):
        self.assertFails(run('convert', '-O', 'layout=newer', self.write('o.perf', json.dumps(self.old_profile())), self.path('x.perf')), 2, 'layout')
        self.assertEqual(['o.perf'], self.files())


if __name__ == '__main__':
    main()
