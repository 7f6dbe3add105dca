"""Reading .cubex files and directories of them with the command; the files are made here, from the description of the format."""
import bz2
import gzip
import lzma
import os
import struct
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, environment, main, run, run_on_terminal
from cubex import anchor, index, metric, packed, rows, small, system, tar, tree

VALUES = 'select c.path, l.name as location, v.value from value v join context c on c.id = v.context join location l on l.id = v.location'
# What small() has.
SMALL = [(path, f'thread {i}', value) for path, row in (('main', (1, 2)), ('main->sort', (10, 20)), ('main->sort->swap', (100, 200)), ('main->join', (1000, 2000)))
         for i, value in enumerate(row)]


class Reading(Case):
    def values(self, path, *options):
        result = run('sql', '--json', *options, path, VALUES)
        self.assertFine(result)
        return [(r['path'], r['location'], r['value']) for r in result.json]

    def problems(self, path, *options):
        result = run('info', '--json', *options, path)
        self.assertFine(result)
        return [(p['severity'], p['rule']) for p in result.json['problems']]

    def assertNoValues(self, path, *words):
        """Rows before the damage may have been printed."""
        result = run('sql', '--json', path, 'select * from value')
        self.assertEqual(3, result.status, result)
        self.assertOneLine(result, *words)

    def test_info(self):
        result = run('info', '--json', self.write('profile.cubex', small()))
        self.assertFine(result)
        info = result.json
        expected = {'format': 'cube', 'format_version': '4.4', 'runs': 1, 'points': 0, 'regions': 4, 'contexts': 4, 'locations': 2, 'values': 8, 'problems': []}
        self.assertEqual(expected, {k: info[k] for k in expected})
        self.assertEqual([{'name': 'time', 'unit': 'sec', 'dtype': 'DOUBLE', 'kind': 'exclusive'}], [{k: m[k] for k in ('name', 'unit', 'dtype', 'kind')} for m in info['metrics']])

    def test_card(self):
        """What is in it, for people: metrics by what they are, and what has no values."""
        metrics = (metric(0, 'time', kind='INCLUSIVE') + metric(1, 'visits') + metric(2, 'empty') + metric(3, 'half', kind='POSTDERIVED', inside='<cubepl>metric::time() / 2</cubepl>') +
                   metric(4, 'odd', kind='POSTDERIVED', inside='<cubepl>metric::time() +</cubepl>'))
        content = {f'{i}.{kind}': part for i in (0, 1) for kind, part in (('index', index([0])), ('data', rows('DOUBLE', [[1.0, 2.0]])))}
        attributes = '<attr key="Creator" value="A tool 1.0"/>\n<attr key="long" value="' + 40 * 'x' + '"/>\n'
        path = self.write('a.cubex', tar({**content, 'anchor.xml': anchor(metrics, tree('main'), system(2), attributes)}))
        lines = run('info', path).out.splitlines()
        self.assertEqual(['  metrics     5  inclusive: time [sec]', '                 exclusive: visits [sec]', '                 derived: half [sec]', '                 without values: empty [sec]',
                          '                 not computable: odd [sec]'], lines[1:6])
        self.assertTrue(any('  Creator = A tool 1.0, long, ' in line for line in lines), lines)
        for columns in (60, 80):
            shown = run_on_terminal('info', 'a.cubex', cwd=self.folder, columns=columns, env=environment(TERM='dumb', LC_ALL='C')).out.replace('\r', '')
            self.assertTrue(shown.isascii(), shown)
            self.assertLessEqual(max(len(line) for line in shown.splitlines() if 'odd has no values' not in line), columns, shown)

    def test_content_tells_not_the_name(self):
        self.assertEqual(SMALL, self.values(self.write('no_name', small())))

    def test_standard_input(self):
        result = run('sql', '--json', '-', VALUES, stdin=small())
        self.assertFine(result)
        self.assertEqual(SMALL, [(r['path'], r['location'], r['value']) for r in result.json])

    def test_compressed_as_a_whole(self):
        for name, pack in (('gzip', gzip.compress), ('bzip2', bz2.compress), ('xz', lzma.compress)):
            with self.subTest(name):
                self.assertEqual(SMALL, self.values(self.write('a.cubex', pack(small()))))

    def test_damaged_metric_leaves_the_others(self):
        good, bad = rows('DOUBLE', [[1.0, 2.0]]), b'?' + rows('DOUBLE', [[1.0, 2.0]])
        path = self.write('a.cubex', tar({'0.index': index([0]), '0.data': good, '1.index': index([0]), '1.data': bad, '2.index': index([0])[:-1], '2.data': good,
                                          'anchor.xml': anchor(metric(0, 'a') + metric(1, 'b') + metric(2, 'c'), tree('main'), system(2))}))
        self.assertEqual([('error', 'data-damaged'), ('error', 'index-damaged')], self.problems(path))
        one = run('sql', '--json', path, 'select value from value where metric = 0')
        self.assertFine(one)
        self.assertEqual([1, 2], [r['value'] for r in one.json])
        self.assertNoValues(path, 'a.cubex', "1.data (metric 'b')")
        self.assertFails(run('convert', path, self.path('out.cubex')), 3, 'a.cubex')
        self.assertEqual(['a.cubex'], self.files())
        self.assertEqual(1, run('validate', path).status)

    def test_broken_stream_is_found_when_it_is_needed(self):
        data = bytearray(packed('DOUBLE', [[1.0, 2.0], [3.0, 4.0]]))
        data[-1] ^= 255
        path = self.write('a.cubex', tar({'0.index': index([0, 1]), '0.data': bytes(data), 'anchor.xml': anchor(metric(0, 'a'), tree('main(sort)'), system(2))}))
        self.assertEqual([], self.problems(path))
        self.assertNoValues(path, 'a.cubex', 'segment of row 1')

    def test_bomb(self):
        """A segment of 64 kB that would be 64 MB, for a row of 16 bytes."""
        pack = zlib.compressobj(9)
        stream = b''.join(pack.compress(bytes(1 << 20)) for _ in range(64)) + pack.flush()
        data = b'ZCUBEX.DATA' + struct.pack('<QQQQ', 1, 0, 0, len(stream)) + stream
        path = self.write('a.cubex', tar({'0.index': index([0]), '0.data': data, 'anchor.xml': anchor(metric(0, 'a'), tree('main'), system(2))}))
        self.assertNoValues(path, 'more than a row of 16 bytes')

    def test_names_that_lead_out(self):
        for name in ('/anchor.xml', '../anchor.xml', 'a/../../anchor.xml'):
            with self.subTest(name):
                path = self.write('a.cubex', tar({name: anchor(metric(0, 'a'), tree('main'), system(1))}))
                self.assertFails(run('info', path), 3, 'a.cubex')

    def test_refusals_are_one_line_with_the_place(self):
        cases = {'not well-formed': b'<cube>\n<metrics></cube>', 'DOCTYPE': b'<!DOCTYPE c [<!ENTITY a "b">]><cube>&a;</cube>', '<html>': b'<html/>',
                 'which is not there': b'<cube><program><cnode id="3" calleeId="8"/></program></cube>', 'two metrics': b'<cube><metrics><metric id="1"/><metric id="1"/></metrics></cube>'}
        for words, text in cases.items():
            with self.subTest(words):
                self.assertFails(run('info', self.write('a.cubex', tar({'anchor.xml': text}))), 3, 'a.cubex:', 'anchor.xml: ', words)

    def test_deep_nesting(self):
        deep = b'<cube><program><region id="0"><name>f</name></region>' + b'<cnode id="0" calleeId="0">' * 200000
        self.assertFails(run('info', self.write('a.cubex', tar({'anchor.xml': deep}))), 3, 'too deep')
        depth = 30000
        fine = deep[:deep.index(b'<cnode')] + b'<cnode id="0" calleeId="0">' * depth + b'</cnode>' * depth + b'</program></cube>'
        result = run('info', '--json', self.write('b.cubex', tar({'anchor.xml': fine})))
        self.assertFine(result)
        self.assertEqual(depth, result.json['contexts'])

    def test_counters_below_zero(self):
        path = self.write('a.cubex', tar({'0.index': index([0]), '0.data': rows('UINT64', [[2 ** 64 - 5, 3]]), 'anchor.xml': anchor(metric(0, 'a', 'UINT64'), tree('main'), system(2))}))
        query = 'select inclusive from node'
        self.assertEqual('18446744073709551611', self.values(path)[0][2])
        self.assertEqual([{'inclusive': 3}], run('sql', '--json', path, query).json)
        self.assertEqual([{'inclusive': '18446744073709551614'}], run('sql', '--json', '-O', 'full-uint64=yes', path, query).json)
        validated = run('validate', '--json', path)
        self.assertIn('counter-below-zero', validated.out)

    def test_unknown_option(self):
        self.assertFails(run('info', '-O', 'full-unit64=yes', self.write('a.cubex', small())), 2, 'full-uint64')


class Sets(Case):
    def test_links_that_lead_nowhere(self):
        """A measurement that cannot be opened is told, not left out; links of other names are nobody's business."""
        for p in (2, 4):
            os.makedirs(self.path(f'set/x.p{p}'))
            self.write(f'set/x.p{p}/profile.cubex', small())
        os.symlink('nowhere', self.path('set/notes'))
        self.assertFine(run('info', self.path('set')))
        os.makedirs(self.path('set/x.p8'))
        for target in ('nowhere', 'profile.cubex'):
            os.symlink(target, self.path('set/x.p8/profile.cubex'))
            self.assertFails(run('info', self.path('set')), 3, 'x.p8/profile.cubex: cannot open')
            os.unlink(self.path('set/x.p8/profile.cubex'))

    def point(self, directory, content, name='profile.cubex'):
        os.makedirs(self.path('set/' + directory), exist_ok=True)
        return self.write(f'set/{directory}/{name}', content)

    def make(self):
        for n in (1, 2, 4, 8, 16):
            for r in (1, 2):
                self.point(f'app.n{n}.r{r}', small([[1.0, r], [10.0 * n, 10.0 * n], [n * n, 0.0], [5.0, 5.0]]))
        return self.path('set')

    def measurements(self, path, *options):
        result = run('sql', '--json', *options, path, "select p.label, m.mean, m.maximum, m.repetitions from measurement m join point p on p.id = m.point "
                     "join context c on c.id = m.context where c.path = 'main->sort->swap' order by 1")
        self.assertFine(result)
        return [tuple(r.values()) for r in result.json]

    def test_info(self):
        result = run('info', '--json', self.make())
        self.assertFine(result)
        expected = {'format': 'cube-set', 'format_version': None, 'runs': 10, 'points': 5, 'parameters': ['n'], 'contexts': 4, 'locations': 2, 'values': 80, 'problems': []}
        self.assertEqual(expected, {k: result.json[k] for k in expected})

    def test_scaling(self):
        path = self.make()
        for scaling, expected in (('weak', ('(4)', 8, 16, 2)), ('weak_threaded', ('(4)', 16, 16, 2)), ('strong', ('(4)', 16, 16, 2))):
            with self.subTest(scaling):
                self.assertIn(expected, self.measurements(path, '-O', 'scaling=' + scaling))
        self.assertFails(run('info', '-O', 'scaling=odd', path), 2, 'weak_threaded')

    def test_each_type_has_its_own_arithmetic(self):
        """Exclusive values, and what stands for the sum over two locations: of minima the minimum, of maxima the maximum; counters above 2^53 are exact."""
        big = 2 ** 61
        parts = [('low', 'MINDOUBLE', 'INCLUSIVE', [[5.0, 7.0], [4.0, 9.0]], [4, 7], 4), ('high', 'MAXDOUBLE', 'EXCLUSIVE', [[5.0, 7.0], [4.0, 9.0]], [5, 7], 7),
                 ('count', 'UINT64', 'INCLUSIVE', [[big + 3, 10], [big, 20]], [3, 0], 3), ('gain', 'INT64', 'INCLUSIVE', [[big + 1, 1], [big, 3]], [1, -2], -1),
                 ('small', 'UINT8', 'INCLUSIVE', [[200, 1], [55, 2]], [145, 0], 145)]
        members = {}
        for i, (_, dtype, _, values, _, _) in enumerate(parts):
            members.update({f'{i}.index': index([0, 1]), f'{i}.data': rows(dtype, values)})
        metrics = ''.join(metric(i, name, dtype, kind) for i, (name, dtype, kind, _, _, _) in enumerate(parts))
        members['anchor.xml'] = anchor(metrics, tree('main(sort)'), system(2))
        for n in (1, 2):
            self.point(f'app.n{n}', tar(members))
        for scaling in ('weak', 'strong'):
            result = run('sql', '--json', '-O', 'scaling=' + scaling, self.path('set'), "select t.name, m.minimum, m.maximum from measurement m join metric t on t.id = m.metric "
                         "join context c on c.id = m.context where c.path = 'main' and m.point = 0 order by t.id")
            self.assertFine(result)
            expected = [(name, min(row), max(row)) if scaling == 'weak' else (name, total, total) for name, _, _, _, row, total in parts]
            self.assertEqual(expected, [tuple(r.values()) for r in result.json], scaling)

    def test_model(self):
        result = run('model', '--json', self.make())
        self.assertEqual(0, result.status, result)
        models = {m['callpath']: m for m in result.json['models']}
        self.assertEqual([('n', '1', '0')], [(f['parameter'], f['exponent'], f['log_exponent']) for t in models['main->sort']['terms'] for f in t['factors']])
        self.assertEqual([], models['main->join']['terms'])

    def test_models_are_written(self):
        path = self.make()
        self.assertFine(run('model', '-q', path, '-o', self.path('out.extra-p')))
        shown = {m['callpath']: m['function'] for m in run('model', '--json', path).json['models']}
        kept = run('sql', '--json', self.path('out.extra-p'), 'select c.path, m.function from model m join context c on c.id = m.context').json
        self.assertEqual(shown, {r['path']: r['function'] for r in kept})
        self.assertEqual([('(4)', 8, 16, 2)], [m for m in self.measurements(self.path('out.extra-p')) if m[0] == '(4)'], 'the pooled values of both runs')

    def test_runs_name_their_files(self):
        path = self.make()
        runs = run('sql', '--json', path, 'select source, point, repetition from run order by id').json
        self.assertEqual(os.path.join(path, 'app.n1.r1/profile.cubex'), runs[0]['source'])
        self.assertEqual([(0, 0), (0, 1), (1, 0)], [(r['point'], r['repetition']) for r in runs[:3]])

    def test_missing_call_path_is_kept_and_reported(self):
        self.make()
        self.point('app.n4.r1', small([[1.0, 1.0], [2.0, 2.0]], text='main(join)'))
        self.point('app.n4.r2', small([[1.0, 1.0], [2.0, 2.0]], text='main(join)'))
        result = run('info', '--json', self.path('set'))
        self.assertFine(result)
        self.assertEqual(['missing-points'], [p['rule'] for p in result.json['problems']])
        self.assertEqual(['(1)', '(16)', '(2)', '(8)'], [m[0] for m in self.measurements(self.path('set'))])

    def test_broken_file_is_named(self):
        self.make()
        self.point('app.n4.r1', b'no archive at all')
        self.assertFails(run('info', self.path('set')), 3, 'app.n4.r1/profile.cubex')

    def test_damaged_metric_of_one_file(self):
        self.make()
        self.point('app.n4.r1', tar({'0.index': b'?', '0.data': rows('DOUBLE', [[1.0, 2.0]]), 'anchor.xml': anchor(metric(0, 'time'), tree('main'), system(2))}))
        info = run('info', '--json', self.path('set'))
        self.assertFine(info)
        self.assertIn('index-damaged', [p['rule'] for p in info.json['problems']])
        self.assertFails(run('model', '--json', self.path('set')), 3, 'app.n4.r1/profile.cubex')

    def test_names(self):
        for names, words in ((['foo', 'bar'], 'no parameter'), (['a.x1', 'a.y1'], 'same order'), (['a.x1', 'a.x1.r2'], 'varies'), (['a.x1y', 'a.x2y'], 'behind its last number')):
            with self.subTest(names):
                folder = '-'.join(names)
                for name in names:
                    os.makedirs(self.path(f'{folder}/{name}'))
                    self.write(f'{folder}/{name}/p.cubex', small())
                self.assertFails(run('info', self.path(folder)), 3, folder, words)

    def test_nothing_in_it(self):
        os.makedirs(self.path('empty/point1'))
        self.assertFails(run('info', self.path('empty')), 3, 'empty')
        self.assertFails(run('info', '--from', 'cube-set', self.path('empty')), 3, 'no .cubex files')
        self.assertFails(run('info', '--from', 'cube-set', self.write('a.cubex', small())), 3, 'is a file')
        self.assertFails(run('info', '--from', 'cube', self.path('empty')), 3, 'is a directory')

    def test_directory_of_one_run(self):
        self.point('', small())
        self.assertFails(run('info', self.path('set')), 3, 'profile.cubex', 'give that file')

    def test_attributes_that_differ_belong_to_runs(self):
        for n in (1, 2):
            attributes = f'<attr key="Creator" value="me"/><attr key="host" value="node {n}"/>'
            program = tree('main').replace('calleeId', f'line="{6 + n}" calleeId')
            self.point(f'n{n}', tar({'anchor.xml': anchor(metric(0, 'time'), program, system(1), attributes)}))
        rows_of = run('sql', '--json', self.path('set'), "select owner, owner_id, key, value from attribute where key in ('Creator', 'host')").json
        self.assertEqual([('dataset', 0, 'Creator', 'me'), ('run', 0, 'host', 'node 1'), ('run', 1, 'host', 'node 2')], [tuple(r.values()) for r in rows_of])
        self.assertEqual([{'path': 'main', 'line': 7}], run('sql', '--json', self.path('set'), 'select path, line from context').json, 'as the first file has it')

    def test_links_count_as_what_they_point_to(self):
        self.make()
        os.rename(self.path('set/app.n4.r1'), self.path('elsewhere'))
        os.symlink(self.path('elsewhere'), self.path('set/app.n4.r1'))
        os.symlink(self.path('nowhere'), self.path('set/app.n5.r1'))
        self.assertEqual(10, run('info', '--json', self.path('set')).json['runs'])


if __name__ == '__main__':
    main()
