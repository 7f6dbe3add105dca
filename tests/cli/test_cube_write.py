"""Written .cubex files, decoded by a program of their own (cubex.py): same content, and sound for CubeLib's reader."""
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import ASSAY, SMALL, Case, main, run
from cubex import Cube, anchor, grammar_errors, index, metric, packed, region, rows, small, system, tar, tree

TABLES = ['select source_id, name, display_name, unit, dtype, kind, parent, description from metric', 'select name, mangled, kind, file, line_begin, line_end from region',
          'select parent, region, path, line from context', 'select parent, kind, name, rank, leaf from location', 'select * from value', 'select * from node',
          'select * from attribute order by owner, owner_id, key, value']

# All that a file can say, in the order of CubeLib's grammar.
METRICS = ('<metric id="0" type="EXCLUSIVE" viztype="GHOST" cacheable="false"><disp_name>Visits &amp; more</disp_name><uniq_name>visits</uniq_name><dtype>UINT64</dtype><uom>occ</uom>'
           '<val>v</val><url>@mirror@x.html#visits</url><descr>two\nlines &lt;here&gt;</descr><attr key="url" value="a &quot;key&quot;"/><attr key="plain" value=""/>\n'
           '<metric id="2" type="EXCLUSIVE"><disp_name>part</disp_name><uniq_name>part</uniq_name><dtype>UINT8</dtype><uom>occ</uom><url></url><descr></descr></metric>\n</metric>\n'
           '<metric id="1" type="INCLUSIVE"><disp_name>time</disp_name><uniq_name>time</uniq_name><dtype>DOUBLE</dtype><uom>sec</uom><url></url><descr></descr></metric>\n'
           '<metric id="3" type="PREDERIVED_EXCLUSIVE"><disp_name>d</disp_name><uniq_name>d</uniq_name><dtype>DOUBLE</dtype><uom></uom><url></url><descr></descr>'
           '<cubepl>metric::time() &lt; 3</cubepl><cubeplinit>{ ${a} = 1; }</cubeplinit><cubeplaggr cubeplaggrtype="plus">arg1 + arg2</cubeplaggr></metric>\n'
           '<metric id="4" type="EXCLUSIVE"><disp_name>tau</disp_name><uniq_name>tau</uniq_name><dtype>TAU_ATOMIC</dtype><uom></uom><url></url><descr></descr></metric>\n'
           '<metric id="5" type="EXCLUSIVE"><disp_name>h</disp_name><uniq_name>h</uniq_name><dtype>HISTOGRAM(2)</dtype><uom></uom><url></url><descr></descr></metric>\n')
PROGRAM = (region(0, 'main', '<attr key="paradigm" value="mine"/>') + region(1, 'sort') + '<region id="2" mod="" begin="-1" end="-1"><name>operator&lt;</name><url></url><descr></descr></region>\n'
           '<cnode id="2" calleeId="0">\n<parameter partype="numeric" parkey="n" parvalue="1.50"/>\n<parameter partype="string" parkey="s" parvalue="a&#10;b"/>\n<attr key="hidden" value="yes"/>\n'
           '<cnode id="0" line="12" mod="call.c" calleeId="1">\n<cnode id="1" calleeId="2">\n</cnode>\n</cnode>\n<cnode id="3" calleeId="1">\n</cnode>\n</cnode>\n<cnode id="4" calleeId="2">\n</cnode>\n')
PLACES = ('<systemtreenode Id="0"><name>m</name><class>machine</class><descr>large</descr><attr key="platform" value="Linux"/>\n'
          '<locationgroup Id="0"><name>p0</name><rank>0</rank><type>process</type><attr key="g" value="1"/>\n<location Id="0"><name>t0</name><rank>0</rank><type>thread</type></location>\n'
          '<location Id="2"><name>t1</name><rank>1</rank><type>gpu</type><attr key="l" value="2"/></location>\n</locationgroup>\n'
          '<systemtreenode Id="1"><name>n</name><class>node</class>\n<locationgroup Id="1"><name>p1</name><rank>1</rank><type>process</type>\n'
          '<location Id="1"><name>t0</name><rank>0</rank><type>thread</type></location>\n</locationgroup>\n</systemtreenode>\n</systemtreenode>\n'
          '<topologies>\n<cart name="grid" ndims="1">\n<dim name="x" size="3" periodic="false"/>\n<coord locId="2">0</coord>\n</cart>\n</topologies>\n')
# rows of time in the order of the file: main, sort, sort, operator<, operator<
TIME = [[8.0, 9.0, 10.0], [4.0, 5.0, 6.0], [1.0, 1.0, 1.0], [0.5, 0.25, 0.125], [7.0, 7.0, 7.0]]
EVERYTHING = {
    '0.index': index([0, 3]), '0.data': rows('UINT64', [[2 ** 64 - 1, 1, 2 ** 53 + 1], [0, 0, 7]]), '1.index': index(range(5)), '1.data': rows('DOUBLE', TIME),
    '2.index': index([1]), '2.data': rows('UINT8', [[1, 2, 255]]), '4.index': index([4]), '4.data': rows('TAU_ATOMIC', [[(1, 2.0, 3.0, 4.0, 5.0), (0, 0.0, 0.0, 0.0, 0.0), (7, 1.5, 2.5, 9.0, 8.0)]]),
    '5.index': index([0, 1]), '5.data': rows('HISTOGRAM(2)', [[(0.0, 1.0, 2.0, 3.0)] * 3, [(5.0, 6.0, 7.0, 8.0)] * 3]), 'remapping.spec': b'some text\n',
    'anchor.xml': anchor(METRICS, PROGRAM, PLACES, '<attr key="Creator" value="a &lt; b"/>\n<attr key="mirror" value="not a mirror"/>\n',
                         '<doc>\n<mirrors>\n<murl>http://one/</murl>\n<murl>two &amp; three</murl>\n</mirrors>\n</doc>\n')}


class WriteCase(Case):
    def converted(self, data, *options, name='out.cubex'):
        r = run('convert', '--to', 'cube', *options, self.write('in.cubex', data), self.path(name))
        self.assertFine(r)
        return self.read(name)

    def assertSound(self, data):
        cube = Cube(data)
        self.assertEqual([], grammar_errors(cube.anchor))
        return cube

    def assertSame(self, a, b):
        for word in ('version', 'attributes', 'mirrors', 'metrics', 'regions', 'cnodes', 'locations', 'values'):
            self.assertEqual(getattr(a, word), getattr(b, word), word)


class RoundTrips(WriteCase):
    def test_everything_comes_out_again(self):
        data = tar(EVERYTHING)
        original = Cube(data)
        self.assertEqual([], grammar_errors(original.anchor))
        out = self.converted(data)
        written = self.assertSound(out)
        self.assertSame(original, written)
        self.assertEqual(b'some text\n', written.members['remapping.spec'])
        self.assertEqual('2', written.root.find('.//coord').get('locId'))
        self.assertEqual('large', written.root.find('.//systemtreenode').findtext('descr'))
        for statement in TABLES:
            a, b = (run('sql', '--json', self.path(name), statement) for name in ('in.cubex', 'out.cubex'))
            self.assertFine(a)
            self.assertEqual(a.json, b.json, statement)
        self.assertEqual(out, self.converted(out, name='again.cubex'), 'the second time nothing changes')

    def test_what_cubelib_does_not_know_becomes_attr(self):
        """Elements and attributes of tags that its reader would refuse."""
        text = tar({**EVERYTHING, 'anchor.xml': EVERYTHING['anchor.xml'].replace(b'<cube version', b'<cube more="1" version').replace(b'<system>', b'<news a="b">t &lt; u</news>\n<system>')
                    .replace(b'viztype="GHOST"', b'viztype="GHOST" color="red"').replace(b'<dtype>UINT64', b'<dtype size="8">UINT64').replace(b'<region id="0"', b'<region id="0" hot="yes"')
                    .replace(b'<cnode id="3" calleeId="1">', b'<cnode id="3" calleeId="1" cold="no"><times>3</times>')
                    .replace(b'<type>gpu</type>', b'<type>gpu</type><descr>fast</descr><bus>7</bus>')})
        written = self.assertSound(self.converted(text))
        self.assertEqual(['attr', 'doc', 'metrics', 'program', 'system'], list(dict.fromkeys(e.tag for e in written.root)))
        self.assertEqual(['version'], list(written.root.attrib))
        self.assertLessEqual({('@more', '1'), ('xml', '<news a="b">t &lt; u</news>')}, set(written.attributes))
        self.assertLessEqual({('@color', 'red'), ('@dtype:size', '8')}, set(written.metrics[0]['attrs']))
        self.assertEqual('GHOST', written.metrics[0]['viztype'])
        self.assertIn(('@hot', 'yes'), written.regions[0]['attrs'])
        self.assertEqual([('@cold', 'no'), ('xml', '<times>3</times>')], [c for c in written.cnodes if c['id'] == '3'][0]['attrs'])
        self.assertEqual([('descr', 'fast'), ('l', '2'), ('xml', '<bus>7</bus>')], sorted(written.locations[2]['attrs']))
        self.assertEqual(self.read('out.cubex'), self.converted(self.read('out.cubex'), name='again.cubex'), 'the second time nothing changes')

    def test_words_for_the_type_of_a_metric(self):
        """SIMPLE is kept, and so is what nobody knows; a difference of it is what we say it is."""
        words = ['SIMPLE', 'POSTDVIRED', 'EXCLUSIVE', 'INCLUSIVE']
        text = ''.join(metric(i, f'm{i}', kind=word) for i, word in enumerate(words))
        values = {f'{i}.{part}': content for i in range(4) for part, content in (('index', index([0])), ('data', rows('DOUBLE', [[1.0]])))}
        written = self.assertSound(self.converted(tar({**values, 'anchor.xml': anchor(text, tree('main'), system(1))})))
        self.assertEqual(words, [m['type'] for m in written.metrics])
        self.assertEqual(self.read('out.cubex'), self.converted(self.read('out.cubex'), name='again.cubex'), 'the second time nothing changes')

    def test_types_of_many_parameters(self):
        """So many that they are looked up; keys are in each other, and some would be taken for something else."""
        parameters = [('numeric' if i % 3 else 'string', ('@', 'partype:', 'attr:', '')[i % 4] + f'k{i}', str(i)) for i in range(100)]
        text = ''.join(f'<parameter partype="{t}" parkey="{k}" parvalue="{v}"/>\n' for t, k, v in parameters)
        program = region(0, 'main') + f'<cnode id="0" calleeId="0">\n{text}</cnode>\n'
        out = self.assertSound(self.converted(tar({'anchor.xml': anchor(metric(0, 'time'), program, system(1))})))
        self.assertEqual(parameters, re.findall(r'<parameter partype="(\w+)" parkey="(\S+)" parvalue="(\d+)"', out.anchor))

    def test_rows_of_inclusive_metrics(self):
        # wide numbers: main 0, sort 1, join 2, swap 3; the rows of join and swap only
        written = self.assertSound(self.converted(small([(1.0, 2.0), (3.0, 4.0)], 'INCLUSIVE', numbers=[2, 3])))
        self.assertEqual(['main', 'main->sort', 'main->sort->swap', 'main->join'], written.paths())
        self.assertEqual({3: [1.0, 2.0], 2: [3.0, 4.0]}, written.values['time'])

    def test_big_endian_and_unsorted(self):
        members = {'0.index': index([3, 0], '>'), '0.data': rows('INT32', [[1, -2], [3, 4]], '>'), 'anchor.xml': anchor(metric(0, 'n', 'INT32'), tree('main(sort(swap) join)'), system(2))}
        written = self.assertSound(self.converted(tar(members)))
        self.assertEqual({3: [1, -2], 0: [3, 4]}, written.values['n'])

    def test_old_words_for_places(self):
        old = ('<machine Id="0"><name>m</name><node Id="0"><name>n</name><process Id="0"><name>p</name><rank>3</rank><thread Id="0"><name>a</name></thread>'
               '<thread Id="1"><name>b</name></thread></process></node></machine>')
        written = self.assertSound(self.converted(tar({'anchor.xml': anchor(metric(0, 'time'), tree('main'), old)})))
        self.assertEqual([('a', '0', 'thread'), ('b', '1', 'thread')], [(l['name'], l['rank'], l['type']) for l in written.locations])
        self.assertEqual(['machine', 'node'], [e.text for e in written.root.iter('class')])

    def test_attributes_without_quotes(self):
        """As CubeLib writes them; text that only looks like it is left alone."""
        bare = ('<descr>rowwise=false and cubeplaggrtype=plus</descr><cubepl rowwise=false>metric::time()</cubepl><cubeplaggr  cubeplaggrtype=minus>arg1</cubeplaggr>')
        data = tar({'0.index': index([0]), '0.data': rows('DOUBLE', [[1.0]]),
                    'anchor.xml': anchor(metric(0, 'time') + metric(1, 'd', kind='PREDERIVED_INCLUSIVE').replace('<descr>about d</descr>', bare), tree('main'), system(1))})
        written = self.assertSound(self.converted(data))
        self.assertEqual('metric::time()', written.metrics[1]['cubepl'])
        self.assertEqual(('false', 'minus'), (written.root.find('.//cubepl').get('rowwise'), written.root.find('.//cubeplaggr').get('cubeplaggrtype')))
        self.assertEqual('rowwise=false and cubeplaggrtype=plus', written.metrics[1]['descr'])

    def test_ids_with_gaps(self):
        program = tree('main(sort)').replace('<cnode id="1"', '<cnode id="70"').replace('id="1" mod', 'id="9" mod').replace('calleeId="1"', 'calleeId="9"')
        places = system(2).replace('location Id="0"', 'location Id="10"').replace('location Id="1"', 'location Id="20"').replace(
            '<topologies>\n', '<topologies>\n<cart name="" ndims="1">\n<dim size="2" periodic="true"/>\n<coord locId="20">1</coord>\n<coord locId="10">0</coord>\n<coord locId="7">9</coord>\n</cart>\n')
        members = {'5.index': index([1]), '5.data': rows('DOUBLE', [[1.0, 2.0]]), 'anchor.xml': anchor(metric(5, 'time'), program, places)}
        written = self.assertSound(self.converted(tar(members)))
        self.assertEqual({1: [1.0, 2.0]}, written.values['time'])
        self.assertEqual(['main', 'main->sort'], written.paths())
        self.assertEqual([('1', '1'), ('0', '0'), ('7', '9')], [(c.get('locId'), c.text) for c in written.root.iter('coord')], 'there is no location 7')

    def test_deep_trees(self):
        depth = 20000
        program = region(0, 'f') + ''.join(f'<cnode id="{i}" calleeId="0">' for i in range(depth)) + '</cnode>' * depth
        members = {'0.index': index([depth - 1]), '0.data': rows('DOUBLE', [[3.0]]), 'anchor.xml': anchor(metric(0, 'time', kind='INCLUSIVE'), program, system(1))}
        written = Cube(self.converted(tar(members)))
        self.assertEqual({depth - 1: [3.0]}, written.values['time'])

    def test_metrics_without_values(self):
        members = {'0.index': index([]), '0.data': rows('DOUBLE', []), 'anchor.xml': anchor(metric(0, 'time') + metric(1, 'visits', 'UINT64'), tree('main'), system(2))}
        written = self.assertSound(self.converted(tar(members)))
        self.assertEqual(['anchor.xml'], list(written.members))
        self.assertEqual(['DOUBLE', 'UINT64'], [m['dtype'] for m in written.metrics])


class Compression(WriteCase):
    VALUES = [[float(i * 37 % 101) + k / 7 for k in range(300)] for i in range(8)]
    TREE = 'a(b(c d) e(f)) g(h)'

    def file(self, content, kind='INCLUSIVE'):
        return tar({'0.index': index(range(8)), '0.data': content('DOUBLE', self.VALUES), 'anchor.xml': anchor(metric(0, 'time', kind=kind), tree(self.TREE), system(300))})

    def test_inherited_or_chosen(self):
        for content, option, is_packed in ((rows, [], False), (packed, [], True), (rows, ['-O', 'compression=zlib'], True), (packed, ['-O', 'compression=none'], False),
                                           (packed, ['-O', 'compression=inherit'], True)):
            for kind in ('INCLUSIVE', 'EXCLUSIVE'):
                data = self.file(content, kind)
                written = self.assertSound(self.converted(data, *option))
                self.assertEqual(is_packed, written.members['0.data'].startswith(b'ZCUBEX.DATA'))
                self.assertEqual(Cube(data).values, written.values)

    def test_each_metric_for_itself(self):
        data = tar({'0.index': index([0]), '0.data': rows('DOUBLE', [[1.0]]), '1.index': index([0]), '1.data': packed('DOUBLE', [[2.0]]),
                    'anchor.xml': anchor(metric(0, 'a') + metric(1, 'b'), tree('main'), system(1))})
        written = Cube(self.converted(data))
        self.assertEqual([b'C', b'Z'], [written.members[f'{i}.data'][:1] for i in range(2)])

    def test_unknown_words(self):
        f = self.write('in.cubex', small())
        self.assertFails(run('convert', '-O', 'compression=gzip', f, self.path('out.cubex')), 2, 'compression')
        self.assertEqual(['in.cubex'], self.files())


class OtherFormats(WriteCase):
    ONE_RUN = 'PARAMETER p\nPOINTS 4\nMETRIC time\nREGION main->sort\nDATA 1.5\nREGION main->join\nDATA 2\n'

    def test_one_run_of_an_experiment(self):
        r = run('convert', self.write('a.txt', self.ONE_RUN), self.path('out.cubex'))
        self.assertEqual(0, r.status, r)
        self.assertIn('1 parameter', r.err)
        written = self.assertSound(self.read('out.cubex'))
        self.assertEqual(['main', 'main->sort', 'main->join'], written.paths())
        self.assertEqual({1: [1.5], 2: [2.0]}, written.values['time'])
        self.assertEqual(1, len(written.locations))

    def test_strict(self):
        r = run('convert', '--strict', self.write('a.txt', self.ONE_RUN), self.path('out.cubex'))
        self.assertEqual(1, r.status, r)
        self.assertEqual(['a.txt'], self.files())

    def test_several_runs_are_refused(self):
        r = run('convert', self.write('a.txt', SMALL), self.path('out.cubex'))
        self.assertEqual(3, r.status, r)
        self.assertIn('cube-set', r.err)
        self.assertEqual(['a.txt'], self.files())

    def test_statistics_are_no_values(self):
        source = os.path.join(os.environ['ASSAY_SOURCE'], 'tests/data/extrap-segmented.extra-p')
        r = run('convert', '--to', 'cube', source, self.path('out.cubex'))
        self.assertEqual(3, r.status, r)
        self.assertIn('only statistics; extrap-experiment holds those', r.err)
        self.assertEqual([], self.files())
        self.assertFine(run('convert', '--to', 'extrap-experiment', source, self.path('out.extra-p')))

    def test_characters_that_xml_has_not(self):
        text = '{"params": {"p": 1}, "callpath": "ma\\u0001in->\\ufffe&<\\"x", "metric": "time", "value": 3}\n'
        r = run('convert', '--from', 'extrap-jsonl', self.write('a.jsonl', text), self.path('out.cubex'))
        self.assertEqual(0, r.status, r)
        self.assertIn('control characters', r.err)
        written = self.assertSound(self.read('out.cubex'))
        self.assertEqual(['ma\ufffdin', 'ma\ufffdin->\ufffd&<"x'], written.paths())


class Sets(WriteCase):
    VALUES = ('select p.label, r.repetition, t.name as metric, c.path, v.value from value v join run r on r.id = v.run join point p on p.id = r.point '
              'join metric t on t.id = v.metric join context c on c.id = v.context order by 1, 2, 3, 4')
    TEXT = SMALL.replace('PARAMETER n', 'PARAMETER rate').replace('(1 20) (2 20)', '(1 0.25) (2 0.25)')

    def set_of(self, text, *options):
        return run('convert', '--to', 'cube-set', *options, self.write('a.txt', text), self.path('set'))

    def names(self, folder='set'):
        return sorted(os.path.relpath(os.path.join(f, n), self.path(folder)) for f, _, names in os.walk(self.path(folder)) for n in names)

    def test_who_cannot_read_it_is_said(self):
        """pyCubexR takes one root of the call tree only."""
        two_roots = self.TEXT.replace('REGION main->join', 'REGION join')
        result = self.set_of(two_roots, '--strict')                 # it is no loss
        self.assertEqual(0, result.status)
        self.assertEqual('assay: note: pyCubexR, and so Extra-P, cannot read files whose call tree has several roots (here 2); assay can\n', result.err)

    def test_a_file_for_each_run(self):
        self.assertFine(self.set_of(self.TEXT))
        self.assertEqual([f'run.p{p}rate{rate}.r{r}/profile.cubex' for p in (1, 2) for rate in ('0.25', '10') for r in (1, 2)], self.names())
        written = self.assertSound(self.read('set/run.p2rate0.25.r1/profile.cubex'))
        self.assertEqual({1: [4.0], 2: [40.0]}, written.values['time'])
        info = run('info', '--json', self.path('set')).json
        self.assertEqual(('cube-set', ['p', 'rate'], 4, 8, 16), (info['format'], info['parameters'], info['points'], info['runs'], info['values']))
        a, b = (run('sql', '--json', self.path(x), self.VALUES) for x in ('a.txt', 'set'))
        self.assertFine(a)
        self.assertEqual(a.json, b.json)
        self.assertEqual(16, len(a.json))

    def test_the_second_time_nothing_changes(self):
        self.assertFine(self.set_of(self.TEXT))
        self.assertFine(run('convert', '--to', 'cube-set', self.path('set'), self.path('again')))
        self.assertEqual(self.names(), self.names('again'))
        for name in self.names():
            self.assertEqual(self.read('set/' + name), self.read('again/' + name))

    def test_locations_of_each_run(self):
        for points, n in (((1, 2), 2), ((4,), 3)):
            for p in points:
                os.makedirs(self.path(f'in/app.p{p}.r1'))
                self.write(f'in/app.p{p}.r1/x.cubex', small([tuple(float(p * 10 + k) for k in range(n))], numbers=[0]))
        self.assertFine(run('convert', '--to', 'cube-set', '-O', 'compression=zlib', self.path('in'), self.path('set')))
        self.assertEqual([f'run.p{p}.r1/profile.cubex' for p in (1, 2, 4)], self.names())
        for p, n in ((1, 2), (2, 2), (4, 3)):
            written = self.assertSound(self.read(f'set/run.p{p}.r1/profile.cubex'))
            self.assertEqual({0: [p * 10.0 + k for k in range(n)]}, written.values['time'])
            self.assertTrue(written.members['0.data'].startswith(b'ZCUBEX.DATA'))
        self.assertFine(run('convert', '--to', 'cube-set', self.path('set'), self.path('again')))
        self.assertTrue(Cube(self.read('again/run.p4.r1/profile.cubex')).members['0.data'].startswith(b'ZCUBEX.DATA'), 'inherited')

    def test_numbers(self):
        numbers = ['0', '0.1', '1e-7', '123456789', '1e22', '2.5e10']
        text = 'PARAMETER x\nPOINTS ' + ' '.join(numbers) + '\nMETRIC time\nREGION main\n' + ''.join(f'DATA {i}\n' for i in range(len(numbers)))
        self.assertFine(self.set_of(text))
        self.assertEqual(sorted(f'run.x{x}.r1/profile.cubex' for x in ('0', '0.1', '0.0000001', '123456789', '1' + '0' * 22, '25000000000')), self.names())
        a = run('sql', '--json', self.path('set'), 'select value from coordinate order by value').json
        self.assertEqual(sorted(map(float, numbers)), [float(r['value']) for r in a])

    def test_what_names_cannot_say(self):
        for text, word in ((self.TEXT.replace('PARAMETER p', 'PARAMETER p2'), "'p2'"), (self.TEXT.replace('PARAMETER p', 'PARAMETER r'), "'r'"),
                           (self.TEXT.replace('PARAMETER p', 'PARAMETER a.b'), "'a.b'"), (self.TEXT.replace('(1 10)', '(-1 10)'), '-1'),
                           (self.TEXT.replace('(1 10)', '(1e90 10)'), '1e+90')):
            r = self.set_of(text)
            self.assertFails(r, 3, word, 'extrap-experiment')
            self.assertEqual(['a.txt'], self.files())

    def test_one_point(self):
        self.assertFails(self.set_of(OtherFormats.ONE_RUN), 3, 'only one point')
        self.assertFails(run('convert', '--to', 'cube-set', self.write('in.cubex', small()), self.path('set')), 3, 'no parameters')

    def test_a_parameter_that_does_not_vary(self):
        r = self.set_of(self.TEXT.replace('0.25', '10').replace('(1 10) (2 10) (1 10) (2 10)', '(1 10) (2 10) (3 10) (4 10)'))
        self.assertEqual(0, r.status, r)
        self.assertIn('the parameter rate, which has one value only', r.err)
        self.assertEqual(['p'], run('info', '--json', self.path('set')).json['parameters'])

    def test_what_is_there_stays(self):
        os.mkdir(self.path('set'))
        self.assertFine(self.set_of(self.TEXT))
        before = {name: self.read('set/' + name) for name in self.names()}
        r = self.set_of(self.TEXT.replace('DATA 1 1.5', 'DATA 2 2'))
        self.assertFails(r, 3, 'not empty')
        self.assertEqual(before, {name: self.read('set/' + name) for name in self.names()})
        self.assertEqual(['a.txt', 'set'], self.files())
        self.assertFails(run('convert', '--to', 'cube-set', self.path('a.txt'), self.path('a.txt')), 3)

    def test_a_signal_leaves_nothing(self):
        points = [(p, n) for p in (1, 2, 4, 8, 16) for n in (10, 20, 30, 40, 50)]
        data = ''.join(f'REGION main->f{i}\n' + 'DATA 1 2 3 4\n' * len(points) for i in range(2000))
        f = self.write('a.txt', 'PARAMETER p\nPARAMETER n\nPOINTS ' + ' '.join(map('({0[0]} {0[1]})'.format, points)) + '\nMETRIC time\n' + data)
        p = subprocess.Popen([ASSAY, 'convert', '--to', 'cube-set', f, self.path('set')], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while p.poll() is None and time.monotonic() < end:              # until some of its files are there
            growing = [name for name in self.files() if name.startswith('.set')]
            if growing and len(os.listdir(self.path(growing[0]))) > 3:
                break
        p.send_signal(signal.SIGTERM)
        self.assertEqual(-signal.SIGTERM, p.wait(60))
        self.assertEqual(['a.txt'], self.files())


if __name__ == '__main__':
    main()
