"""assay view: flame graphs; against assay flame, and by hand."""
import os
import re

import cubex
import hpctoolkit
from common import Case, main, run
from cubex import processes, profile
from viewer import Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
CORPUS = os.environ.get('ASSAY_CORPUS', '')
TIME = 'CPUTIME (sec)'


def as_folded(name):
    """What folded stacks make of a name."""
    return re.sub(r'[\x00-\x1f\x7f]', ' ', (name or '').replace(';', ':'))


def stacks(answer):
    """{path of names: own amount} of a top-down picture that leaves nothing out."""
    paths, out = [], {}
    for i, parent in enumerate(answer['parent']):
        name = answer['name'][i]
        path = (paths[parent] if parent >= 0 else ()) + (() if name is None and i == 0 else (as_folded(None if name is None else answer['names'][name]),))
        paths.append(path)
        if answer['own'][i]:
            out[path] = out.get(path, 0) + answer['own'][i]
    return out


def folded(text):
    out = {}
    for line in text.splitlines():
        path, amount = line.rsplit(' ', 1)
        out[tuple(path.split(';'))] = float(amount)
    return out


def inverted(own):
    """{innermost, its caller, …: amount} with all sums on the way, of {outermost, …: amount}."""
    out = {}
    for path, amount in own.items():
        for n in range(1, len(path) + 1):
            key = path[::-1][:n]
            out[key] = out.get(key, 0) + amount
    return out


class Flame(Case):
    def viewer(self, *paths):
        viewer = Viewer(*map(str, paths))
        self.addCleanup(viewer.end)
        return viewer

    def profile(self, rows, text, n=1, kind='EXCLUSIVE', dtype='DOUBLE'):
        return self.write('p.cubex', profile([('time', dtype, kind, rows)], text, processes(n)))

    def assertSame(self, known, found, what):
        known = {k: v for k, v in known.items() if v > 0}
        self.assertEqual(set(known), set(found), what)
        for path, amount in known.items():
            self.assertAlmostEqual(amount, found[path], delta=1e-9 * max(1, abs(amount)), msg=(what, path))

    def names(self, answer):
        return [None if n is None else answer['names'][n] for n in answer['name']]


class Numbers(Flame):
    def test_as_assay_flame_has_them(self):
        paths = [os.path.join(EXAMPLES, name) for name in ('heat.cubex', 'heat-2.cubex', 'heat-hpctoolkit', 'gpu/filter.sqlite', 'simulation.afperf', 'sort-1.perf', 'kernels.txt',
                                                           'waves-extra-prof')]
        if CORPUS:
            databases = os.path.join(CORPUS, 'hpctoolkit', 'databases')
            paths += [os.path.join(databases, name) for name in ('hatchet-cpi-v4', 'hv-quicksilver', 'hv-inline_meta_db', 'tk-loops-cuda-nvidia-t_d')]
        for path in paths:
            viewer = self.viewer(path)
            metrics = [m['name'] for m in viewer.get('inputs')['inputs'][0]['metrics'] if m['has_data']][:6]
            for metric in metrics:
                known = run('flame', '--folded', path, '--metric', metric)
                try:
                    answer = viewer.get('flame', metric=metric, width=20000)
                except Refused as refused:
                    self.assertNotEqual(0, known.status, (path, metric, refused.message))
                    continue
                self.assertEqual(0, known.status, (path, metric, known.err))
                amounts = folded(known.out)
                self.assertAlmostEqual(sum(v for v in amounts.values() if v > 0), answer['total'], delta=1e-9 * max(1, answer['total']), msg=(path, metric))
                if not any(answer['rest']) and len(answer['node']) > len(amounts):
                    found = stacks(answer)
                    small = {k for k, v in amounts.items() if k not in found and v < answer['total'] / 40000}
                    self.assertSame({k: v for k, v in amounts.items() if k not in small}, found, (path, metric))

    def test_values_of_which_nobody_says_what_is_in_them(self):
        """Extra-P's texts do not say whether a call path has in it what is below. Where it looks so, nothing is counted twice."""
        def experiment(name, **values):
            return self.write(name, 'PARAMETER p\nPOINTS 1 2 4 8 16\n' + ''.join(f"REGION {path.replace('_', '->')}\nMETRIC time\n" + f'DATA {value}\n' * 5 for path, value in values.items()))
        nested = experiment('nested.txt', main=10, main_a=6, main_a_x=2, main_b=3.5)
        apart = experiment('apart.txt', main=1, main_a=6, main_a_x=2, main_b=3.5)
        for path, expected in ((nested, {('main',): 0.5, ('main', 'a'): 4, ('main', 'a', 'x'): 2, ('main', 'b'): 3.5}), (apart, {('main',): 1, ('main', 'a'): 6, ('main', 'a', 'x'): 2, ('main', 'b'): 3.5})):
            total = sum(expected.values())
            self.assertSame(expected, folded(run('flame', '--folded', path).out), path)
            self.assertAlmostEqual(total, run('flame', '--json', path).json['value'])
            run('convert', '-q', path, self.path('out.folded'))
            with open(self.path('out.folded'), encoding='utf-8') as f:
                self.assertSame(expected, folded(f.read()), path)
            os.remove(self.path('out.folded'))
            with Viewer(path, path) as viewer:
                self.assertAlmostEqual(total, viewer.get('flame')['total'])
                self.assertAlmostEqual(total, viewer.get('compare_flame')['shapes']['value'][0])

    def test_the_mean_of_runs_and_some_locations(self):
        for path, params in (('kernels.txt', {'run': 'n=256'}), ('heat.cubex', {'location': 'rank=0-2'}), ('heat.cubex', {'location': '3', 'metric': 'visits'})):
            known = run('flame', '--folded', os.path.join(EXAMPLES, path), *(w for k, v in params.items() for w in (f'--{k}', v)))
            answer = self.viewer(os.path.join(EXAMPLES, path)).get('flame', width=20000, **params)
            self.assertSame(folded(known.out), stacks(answer), (path, params))

    def test_what_the_root_has_itself(self):
        """0.5 s of the first profile that no function has: as `flame` and `convert` have it."""
        db = hpctoolkit.small()
        own = db.stored(db.profiles[0])[0, TIME, 'execution']
        whole = own + db.stored(db.profiles[1])[0, TIME, 'execution'] + 0.5
        db.extra[1, 0, TIME, 'execution'] = own + 0.5
        database = self.path('database')
        hpctoolkit.write_2021(database, db)
        viewer = self.viewer(database)
        answer = viewer.get('flame', metric=TIME, width=20000)
        self.assertAlmostEqual(0.5, stacks(answer)['<root>',])
        self.assertSame(folded(run('flame', '--folded', database, '--metric', TIME).out), stacks(answer), 'with a root')
        self.assertAlmostEqual(whole, answer['total'])
        root = answer['node'][answer['name'].index(answer['names'].index('<root>'))]
        self.assertEqual([0.5], [round(v, 9) for v in viewer.get('flame', metric=TIME, root=root)['value']])
        self.assertIn(('<root>',), inverted(stacks(viewer.get('flame', metric=TIME, view='inverted', width=20000))))
        one = viewer.get('flame', metric=TIME, location='0', width=20000)
        self.assertSame(folded(run('flame', '--folded', database, '--metric', TIME, '--location', '0').out), stacks(one), 'one location')

    def test_equal_names_below_one_frame_are_one(self):
        viewer = self.viewer(self.profile(((1.0,), (2.0,), (4.0,), (8.0,), (16.0,)), 'main(f(g) f(g))'))
        answer = viewer.get('flame')
        self.assertEqual([None, 'main', 'f', 'g'], self.names(answer))
        self.assertEqual([31, 31, 30, 20], answer['value'])
        self.assertEqual([0, 1, 10, 20], answer['own'])
        self.assertEqual([None, 0, 1, 2], answer['node'])
        # a context that became a part of another's frame is that frame
        self.assertEqual((['f', 'g'], [30, 20]), (self.names(viewer.get('flame', root=3)), viewer.get('flame', root=3)['value']))

    def test_another_metric_has_the_same_frames(self):
        """Numbers of metrics that were shown before leave nothing behind: amounts, those below 0, what the root has itself."""
        rows = {'a': (1.0, 2.0, 4.0, 8.0, 16.0), 'b': (0.5, -3.0, 1.0, 2.0, 1.0)}
        viewer = self.viewer(self.write('p.cubex', profile([(name, 'DOUBLE', 'EXCLUSIVE', tuple((v,) for v in values)) for name, values in rows.items()], 'main(f(g) f(g))', processes(1))))
        expected = {'a': ([31, 31, 30, 20], [0, 1, 10, 20], 0), 'b': ([2.5, 2.5, 2, 2], [0, 0.5, 0, 2], 1)}  # f has -3 + 2: counts as 0
        for metric in 'abaab':
            answer = viewer.get('flame', metric=metric)
            self.assertEqual([None, 'main', 'f', 'g'], self.names(answer))
            self.assertEqual((*expected[metric], expected[metric][0][0]), (answer['value'], answer['own'], answer['n_minus'], answer['total']), metric)
        db = hpctoolkit.small()
        db.extra[1, 0, TIME, 'execution'] = db.stored(db.profiles[0])[0, TIME, 'execution'] + 0.5
        database = self.path('database')
        hpctoolkit.write_2021(database, db)
        viewer = self.viewer(database)
        others = [m['name'] for m in viewer.get('inputs')['inputs'][0]['metrics'] if m['has_data'] and m['name'] != TIME][:2]
        for metric in (TIME, *others, TIME):
            answer = viewer.get('flame', metric=metric, width=20000)
            self.assertEqual(metric == TIME, ('<root>',) in stacks(answer), metric)
            self.assertSame(folded(run('flame', '--folded', database, '--metric', metric).out), stacks(answer), metric)

    def test_what_is_below_nothing_has_no_width(self):
        answer = self.viewer(self.profile(((5.0,), (-2.0,), (3.0,)), 'main(f g)')).get('flame')
        self.assertEqual(([None, 'main', 'g'], 8, 1), (self.names(answer), answer['total'], answer['n_minus']))

    def test_inclusive_values_leave_their_differences(self):
        answer = self.viewer(self.profile(((10.0,), (4.0,), (3.0,)), 'main(f g)', kind='INCLUSIVE')).get('flame')
        self.assertEqual([10, 10, 4, 3], answer['value'])
        self.assertEqual([0, 3, 4, 3], answer['own'])

    def test_inverted(self):
        path = os.path.join(EXAMPLES, 'heat.cubex')
        known = inverted(folded(run('flame', '--folded', path).out))
        viewer = self.viewer(path)
        answer = viewer.get('flame', view='inverted', width=20000)
        paths, found = [()], {}
        for i in range(1, len(answer['node'])):
            name = '' if answer['rest'][i] else answer['names'][answer['name'][i]]
            paths.append(paths[answer['parent'][i]] + (name,))
            if not answer['rest'][i]:
                found[paths[i]] = answer['value'][i]
        self.assertEqual([], [p for p in found if p not in known])
        for key, amount in known.items():
            if key in found or amount > answer['total'] / 20000:
                self.assertAlmostEqual(amount, found[key], places=9, msg=key)
        self.assertTrue(any(len(p) == 4 for p in found))
        # from each node on, the picture is the same as its part of the whole
        for i in (1, 2, 5, 7):
            part = viewer.get('flame', view='inverted', root=answer['node'][i], width=20000)
            self.assertAlmostEqual(answer['value'][i], part['value'][0])
            self.assertEqual(answer['names'][answer['name'][i]], part['names'][part['name'][0]])
            self.assertEqual(list(paths[i][:-1]), part['above']['name'])

    def test_recursion_upside_down(self):
        answer = self.viewer(self.profile(((1.0,), (2.0,), (4.0,)), 'f(f(f))')).get('flame', view='inverted')
        self.assertEqual([7, 7, 6, 4], answer['value'])  # f; called by f: 2 and 4; by f by f: 4
        self.assertEqual([0, 1, 2, 4], answer['own'])
        self.assertEqual([None, 0, 0, 0], answer['context'])


class Search(Flame):
    def test_a_share_counts_stacks_once(self):
        viewer = self.viewer(self.profile(((1.0,), (2.0,), (4.0,), (8.0,)), 'main(Fast(fast) other)'))
        answer = viewer.get('flame', match='fast')
        self.assertEqual({'n': 2, 'value': 6}, answer['search'])
        self.assertEqual([0, 0, 0, 1, 1], answer['found'])  # other is the largest child of main
        self.assertEqual({'n': 1, 'value': 6}, viewer.get('flame', match='Fast')['search'])
        self.assertEqual({'n': 1, 'value': 8}, viewer.get('flame', match='/^o.*r$/')['search'])
        self.assertEqual({'n': 0, 'value': 0}, viewer.get('flame', match='nothing')['search'])
        self.assertEqual(6, viewer.get('flame', match='fast', view='inverted')['search']['value'])

    def test_what_is_too_small_to_be_seen_is_found(self):
        n = 3000
        rows = [(1.0,)] + [(0.001,)] * n + [(1e6,)]
        text = 'main(' + ' '.join(f'tiny{i}' for i in range(n)) + ' big)'
        answer = self.viewer(self.profile(rows, text)).get('flame', match='tiny', width=1000)
        self.assertEqual(n, answer['search']['n'])
        self.assertAlmostEqual(3, answer['search']['value'])
        self.assertEqual([None, 'main', 'big'], self.names(answer))


class Pictures(Flame):
    def test_narrow_siblings_are_taken_together(self):
        n = 1000
        rows = [(0.0,)] + [(1.0,)] * n + [(1000.0,)]
        text = 'main(' + ' '.join(f'f{i}' for i in range(n)) + ' big)'
        viewer = self.viewer(self.profile(rows, text))
        answer = viewer.get('flame', width=100)
        self.assertEqual([0, 0, 0, n], answer['rest'])
        self.assertEqual([2000, 2000, 1000, 1000], answer['value'])
        self.assertEqual(n + 3, len(viewer.get('flame', width=4000)['node']))

    def test_order(self):
        viewer = self.viewer(self.profile(((0.0,), (1.0,), (3.0,), (2.0,)), 'main(a b c)'))
        self.assertEqual(['b', 'c', 'a'], self.names(viewer.get('flame'))[2:])
        self.assertEqual(['a', 'b', 'c'], self.names(viewer.get('flame', order='source'))[2:])
        self.assertEqual(['a', 'b', 'c'], self.names(viewer.get('flame', order='source', view='inverted'))[1::2])

    def test_zoom(self):
        viewer = self.viewer(os.path.join(EXAMPLES, 'heat.cubex'))
        whole = viewer.get('flame')
        at = self.names(whole).index('exchange_halo')
        part = viewer.get('flame', root=whole['node'][at])
        self.assertEqual(['main', 'solve'], part['above']['name'])
        self.assertEqual(whole['value'][at], part['value'][0])
        self.assertEqual({'pack', 'MPI_Irecv', 'MPI_Isend', 'MPI_Waitall'}, set(self.names(part)[1:]))

    def test_deep_trees(self):
        depth = 10000
        names = [f'f{i % 7}' for i in range(depth)]
        program = ''.join(cubex.region(i, n) for i, n in enumerate(names)) + ''.join(f'<cnode id="{i}" calleeId="{i}">' for i in range(depth)) + '</cnode>' * depth
        path = self.write('deep.cubex', cubex.tar({'0.index': cubex.index(list(range(depth))), '0.data': cubex.rows('DOUBLE', [[1.0]] * depth),
                                                   'anchor.xml': cubex.anchor(cubex.metric(0, 'time'), program, cubex.system(1))}))
        viewer = self.viewer(path)
        answer = viewer.get('flame', width=20000)
        self.assertEqual(depth + 1, len(answer['node']))
        self.assertEqual((depth, 1), (answer['value'][1], answer['value'][-1]))
        self.assertEqual(depth - 5000, viewer.get('flame', root=5000)['value'][0])
        self.assertEqual(7, sum(1 for p in viewer.get('flame', view='inverted')['parent'] if p == 0))

    def test_the_most_there_is_room_for(self):
        n = 30000
        path = self.write('many.folded.txt', 'METRIC time\nPARAMETER p\nPOINTS 1\n' + ''.join(f'REGION f{i}\nDATA 1\n' for i in range(n)))
        answer = self.viewer(path).get('flame', width=20000)
        self.assertLessEqual(len(answer['node']), 20001)
        self.assertEqual((n, 30000), (answer['n_frames'], answer['total']))
        self.assertAlmostEqual(30000, sum(v for v, p in zip(answer['value'], answer['parent']) if p == 0))

    def test_levels_there_is_no_room_for(self):
        """All of one chain is equally wide: with the whole and the rest 19,998 levels are 20,000 boxes, in a comparison 7,998 are 8,000."""
        depth = 30000
        path = self.write('chain.folded', ';'.join(f'f{i}' for i in range(depth)) + ' 5\n')
        viewer = self.viewer(path, path)
        answer = viewer.get('flame')
        self.assertEqual((20000, 19998, depth), (len(answer['node']), answer['n_levels'], answer['n_frames']))
        self.assertEqual((list(range(-1, 19999)), [0] * 19999 + [1], {5}), (answer['parent'], answer['rest'], set(answer['value'])))
        self.assertEqual([None, *(f'f{i}' for i in range(19998)), None], self.names(answer))
        # what is below the last of them is all there
        below = viewer.get('flame', root=answer['node'][-2])
        self.assertEqual([f'f{i}' for i in range(19997, depth)], self.names(below))
        self.assertNotIn('n_levels', below)
        upside_down = viewer.get('flame', view='inverted')
        self.assertEqual([None, *(f'f{depth - 1 - i}' for i in range(19998)), None], self.names(upside_down))
        both = viewer.get('compare_flame')
        self.assertEqual((7998, [None, *(f'f{i}' for i in range(7998)), None]), (both['n_levels'], both['shapes']['name']))

    def test_levels_of_many_alike(self):
        """3,000 stacks of 10 levels, all of one width. Six levels of 3,000 with the whole and 3,000 rests would be 21,001, five are 18,001."""
        path = self.write('alike.folded', ''.join(';'.join([f'f{i}'] * 10) + ' 1\n' for i in range(3000)))
        answer = self.viewer(path).get('flame')
        self.assertEqual((18001, 5), (len(answer['node']), answer['n_levels']))
        self.assertEqual((15000, 3000), (sum(n is not None for n in answer['name']), sum(answer['rest'])))

    def test_odd_inputs(self):
        nothing = self.viewer(self.profile(((0.0,), (0.0,)), 'main(f)')).get('flame')
        self.assertEqual((0, [None]), (nothing['total'], nothing['node']))
        odd = self.viewer(self.profile(((1.0,), (float('nan'),), (2.0,)), 'main(f g)')).get('flame')
        self.assertEqual((3, [None, 'main', 'g']), (odd['total'], self.names(odd)))

    def test_what_cannot_be_asked(self):
        viewer = self.viewer(self.profile(((1.0,), (2.0,)), 'main(f)'))
        for params in ({'root': 9}, {'root': 'x'}, {'root': 1 << 32}, {'root': -1}, {'root': 5 << 32, 'view': 'inverted'}, {'view': 'flat'}, {'order': 'name'}, {'width': 0},
                       {'width': 'wide'}, {'match': '/(/'}, {'metric': 'nothing'}, {'d': 3}, {'location': 'nobody'}):
            with self.assertRaises(Refused) as caught:
                viewer.get('flame', **params)
            self.assertEqual(400, caught.exception.status, params)
            self.assertTrue(caught.exception.message)
        minimum = self.viewer(self.profile(((1.0,), (2.0,)), 'main(f)', dtype='MINDOUBLE'))
        with self.assertRaises(Refused) as caught:
            minimum.get('flame')
        self.assertIn('do not add up', caught.exception.message)


if __name__ == '__main__':
    main()
