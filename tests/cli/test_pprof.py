"""pprof profiles: made by hand and decoded again straight from the document of protocol buffers."""
import gzip
import os
import shutil
import subprocess
import unittest

from common import Case, main, run
from protobuf import Maker, Profile, put

EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')


def go_heap():
    """As Go's runtime writes the heap: four types of samples."""
    m = Maker(('alloc_objects', 'count'), ('alloc_space', 'bytes'), ('inuse_objects', 'count'), ('inuse_space', 'bytes'))
    m.function(1, 'main.main', 'main.go', 5).function(2, 'main.fill', 'main.go', 20).function(3, 'runtime.malloc', 'malloc.go', 100)
    m.location(1, (1, 10), address=0x1000, mapping=1).location(2, (3, 110), (2, 25), address=0x1100, mapping=1)
    m.location(3, (2, 26), address=0x1200, mapping=1)
    m.add(3, put(1, 1) + put(2, 0x1000) + put(3, 0x2000) + put(5, m.text('/bin/app')) + put(6, m.text('b1d')) + put(7, 1))
    m.sample([2, 1], [10, 1000, 4, 400]).sample([3, 1], [1, 64, 0, 0]).sample([1], [2, 32, 2, 32]).sample([3, 1], [5, 320, 1, 64])
    m.add(9, 1700000000500000000).add(11, m.pair('space', 'bytes')).add(12, 524288).add(14, m.text('inuse_space'))
    return m


class Read(Case):
    def make(self, maker, name='p.pb.gz', packed=True):
        data = maker.bytes() if isinstance(maker, Maker) else maker
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as file:
            file.write(gzip.compress(data) if packed else data)
        return path

    def rows(self, path, query, *options):
        result = run('sql', path, query, '--json', *options)
        self.assertFine(result)
        return [tuple(row.values()) for row in result.json]

    def test_heap_of_go(self):
        for packed in (True, False):
            path = self.make(go_heap(), packed=packed)
            rows = self.rows(path, 'select m.name, m.unit, c.path, v.value from value v join metric m on v.metric = m.id join context c on v.context = c.id order by 1, 3')
            fill, malloc = 'main.main->main.fill', 'main.main->main.fill->runtime.malloc'
            self.assertEqual([('alloc_objects', 'count', 'main.main', 2), ('alloc_objects', 'count', fill, 6), ('alloc_objects', 'count', malloc, 10),
                              ('alloc_space', 'bytes', 'main.main', 32), ('alloc_space', 'bytes', fill, 384), ('alloc_space', 'bytes', malloc, 1000),
                              ('inuse_objects', 'count', 'main.main', 2), ('inuse_objects', 'count', fill, 1), ('inuse_objects', 'count', malloc, 4),
                              ('inuse_space', 'bytes', 'main.main', 32), ('inuse_space', 'bytes', fill, 64), ('inuse_space', 'bytes', malloc, 400)], rows)
        self.assertEqual([(1700000000.5,)], self.rows(path, 'select start_time from run'))
        self.assertEqual([('main.fill', 'main.go', 20, '/bin/app')], self.rows(path, "select name, file, line_begin, module from region where name = 'main.fill'"))
        self.assertEqual([('b1d', 0x1000, 0x2000, 1, 0)], self.rows(path, 'select build_id, memory_start, memory_limit, has_functions, has_line_numbers from mapping'))
        self.assertEqual([('default_sample_type', 'inuse_space'), ('period', 524288), ('period_type', 'space'), ('period_unit', 'bytes')],
                         self.rows(path, "select key, value from attribute where key != 'time_nanos' order by key"))

    def test_the_default_type_is_shown(self):
        self.assertEqual("'inuse_space' [bytes]", run('flame', self.make(go_heap()), '--json').json['metric'])
        m = Maker(('samples', 'count'), ('cpu', 'nanoseconds')).function(1, 'f', 'f.c').location(1, (1, 7)).sample([1], [3, 0])
        self.assertEqual("'cpu' [nanoseconds]", run('flame', self.make(m), '--json').json['metric'])  # nobody says it: the last one
        m.add(14, m.text('samples'))
        self.assertEqual("'samples' [count]", run('flame', self.make(m), '--json').json['metric'])
        heap = Maker(('alloc_space', 'bytes'), ('inuse_space', 'bytes')).function(1, 'f').location(1, (1, 7)).sample([1], [30, 3])
        self.assertEqual("'inuse_space' [bytes]", run('flame', self.make(heap), '--json').json['metric'])  # as Go writes them
        heap.add(14, heap.text('a type that is not there'))
        self.assertEqual("'inuse_space' [bytes]", run('flame', self.make(heap), '--json').json['metric'])
        heap.add(14, heap.text('alloc_space'))
        self.assertEqual("'alloc_space' [bytes]", run('flame', self.make(heap), '--json').json['metric'])

    def test_lines(self):
        """With lines=yes sampled lines are contexts; their sums are those of the functions."""
        path = self.make(go_heap())
        rows = self.rows(path, "select c.name, v.value from value v join metric m on v.metric = m.id join context c on v.context = c.id where m.name = 'alloc_space' order by 1", '-O', 'lines=yes')
        self.assertEqual([('line main.go:10', 32), ('line main.go:26', 384), ('line malloc.go:110', 1000)], rows)
        self.assertEqual([('main.fill', 10), ('runtime.malloc', 25)], self.rows(path, "select name, line from context where name in ('main.fill', 'runtime.malloc') order by 1", '-O', 'lines=yes'))

    def test_where_functions_are_called(self):
        """The line of a call is one of the caller's file."""
        m = Maker(('n', 'count')).function(1, 'f', 'f.c').function(2, 'g', 'g.c').location(1, (1, 7)).location(2, (2, 9)).sample([2, 1], [1])
        self.assertIn('g  g.c  called at f.c:7', run('tree', self.make(m)).out)

    def test_differences_are_below_zero(self):
        m = Maker(('cpu', 'nanoseconds')).function(1, 'f').location(1, (1, 0)).sample([1], [-5]).sample([1], [-(1 << 62)])
        self.assertEqual([(-5 - (1 << 62),)], self.rows(self.make(m), 'select value from value'))

    def test_numbers_that_are_not_packed(self):
        m = Maker(('a', ''), ('b', '')).function(1, 'f').location(1, (1, 0)).location(2, (1, 0))
        m.add(2, put(1, 1) + put(1, 2) + put(2, 7) + put(2, 8))
        self.assertEqual([('f->f', 7), ('f->f', 8)], self.rows(self.make(m), 'select c.path, v.value from value v join context c on v.context = c.id order by 2'))

    def test_tables_may_stand_behind_what_names_them(self):
        m = go_heap()
        m.parts.reverse()
        data = b''.join(put(6, s) for s in m.strings) + b''.join(m.parts)
        result = self.rows(self.make(data, name='r.pprof'), 'select sum(value) from value')
        self.assertEqual([(18 + 1416 + 7 + 496,)], result)

    def test_addresses_and_no_stack(self):
        m = Maker(('n', 'count')).location(1, address=0xbeef).sample([1], [1]).sample([], [2])
        self.assertEqual([('0xbeef', 1), ('<no stack>', 2)], self.rows(self.make(m), 'select c.name, v.value from value v join context c on v.context = c.id order by 2'))

    def test_labels_are_rows(self):
        m = Maker(('n', 'count')).function(1, 'f').location(1, (1, 0))
        m.sample([1], [3], thread='worker', bytes=64).sample([1], [4]).sample([1], [5], thread='main')
        path = self.make(m)
        self.assertEqual([(3, 'worker', 64), (5, 'main', None)], self.rows(path, 'select "value:n", "label:thread", "label:bytes" from sample'))
        self.assertEqual([(12,)], self.rows(path, 'select value from value', '-O', 'locations=none'))

    def places(self, maker, *options):
        """Each value with the names and kinds of the locations it lies at, outermost first."""
        return self.rows(self.make(maker), "select coalesce(p.kind || ' ' || p.name || ' / ', '') || l.kind || ' ' || l.name as place, sum(v.value) from value v "
                         "left join location l on v.location = l.id left join location p on l.parent = p.id group by 1 order by 1", *options)

    def test_sums_of_a_place_are_checked_when_they_are_whole(self):
        """Thread 1 has 2^63 - 1 and 1 in turn with thread 2: together more than 64 bits, though no part is."""
        def maker(*values):
            m = Maker(('n', 'count')).function(1, 'f').location(1, (1, 0))
            for thread, value in values:
                m.sample([1], [value], thread=str(thread))
            return m
        most = (1 << 63) - 1
        self.assertEqual([(most,), (1,)], self.rows(self.make(maker((1, most - 5), (2, 1), (1, 5))), 'select value from value order by location'))
        self.assertEqual([(most,), (1,)], self.rows(self.make(maker((1, most), (1, 1), (2, 1), (1, -1))), 'select value from value order by location'))
        result = run('validate', '--json', self.make(maker((1, most), (2, 1), (1, 1))))
        self.assertEqual((1, ['sum']), (result.status, [p['rule'] for p in result.json]))

    def test_labels_of_threads_are_locations(self):
        def maker(*labels):
            m = Maker(('n', 'count')).function(1, 'f').function(2, 'g').location(1, (1, 0)).location(2, (2, 0))
            for i, more in enumerate(labels):
                m.sample([1 + i % 2], [1 << i], **more)
            return m
        by_name = maker({'thread': 'worker'}, {'thread': 'main'}, {}, {'thread': 'worker', 'bytes': 64}, {'thread': 'worker'})
        self.assertEqual([('thread ?', 4), ('thread main', 2), ('thread worker', 1 + 8 + 16)], self.places(by_name))
        self.assertEqual([(None, 31)], self.places(by_name, '-O', 'locations=none'))
        by_id = maker({'pid': 7, 'tid': 70}, {'pid': 8, 'tid': 70}, {'pid': 7, 'tid': 71}, {'pid': 7, 'tid': 70})
        self.assertEqual([('process process 7 / thread thread 70', 1 + 8), ('process process 7 / thread thread 71', 4), ('process process 8 / thread thread 70', 2)], self.places(by_id))
        self.assertEqual([('process process 7', 1 + 4 + 8), ('process process 8', 2)], self.places(by_id, '-O', 'locations=pid'))
        both = maker({'thread_name': 'io', 'thread_id': 3}, {'thread_name': 'io', 'thread_id': 4})
        self.assertEqual([('thread io (3)', 1), ('thread io (4)', 2)], self.places(both))
        other = maker({'request': '/a'}, {'request': '/b'}, {'request': '/a'})
        self.assertEqual([(None, 7)], self.places(other))
        self.assertEqual([('request /a', 5), ('request /b', 2)], self.places(other, '-O', 'locations=request'))
        result = run('info', self.make(other), '-O', 'locations=thread')
        self.assertIn('no sample has the label "thread"', result.out + result.err)

    def test_what_is_written_of_each_location_comes_back(self):
        path = os.path.join(self.folder, 'each.pb.gz')
        cube = os.path.join(EXAMPLES, 'heat.cubex')
        self.assertEqual(0, run('convert', cube, '-o', path, '-O', 'locations=each').status)
        query = ("select l.rank, c.path, sum(v.value) from value v join location l on v.location = l.id join context c on v.context = c.id join metric m on v.metric = m.id "
                 "where m.name = 'visits' and v.value != 0 group by 1, 2 order by 1, 2")
        self.assertEqual(self.rows(cube, query), self.rows(path, query))

    def test_empty_profile(self):
        path = self.make(Maker(('cpu', 'nanoseconds')))
        result = run('info', path)
        self.assertFine(result)
        self.assertIn('pprof profile', result.out)
        self.assertEqual([('no-data',)], self.rows(path, 'select rule from problem'))

    def test_what_is_wrong_is_said(self):
        def refused(maker, rule):
            result = run('validate', '--from', 'pprof', self.make(maker), '--json')
            self.assertEqual(1, result.status, result)
            self.assertIn(rule, [p['rule'] for p in result.json], rule)
            self.assertEqual(3, run('tree', '--from', 'pprof', self.make(maker)).status)

        good = Maker(('n', 'count')).function(1, 'f').location(1, (1, 0))
        self.assertFine(run('info', self.make(good)))
        refused(Maker(('n', 'count')).sample([1], [1]), 'location-id')
        refused(Maker(('n', 'count')).location(1, (7, 0)).sample([1], [1]), 'function-id')
        refused(Maker(('n', 'count')).location(1, mapping=3).sample([1], [1]), 'mapping-id')
        refused(Maker(('n', 'count')).function(1, 'f').function(1, 'g'), 'id')
        refused(Maker(('n', 'count')).function(0, 'f'), 'id')
        refused(Maker(('n', 'count')).location(1).sample([1], [1, 2]), 'value-count')
        refused(Maker(('n', 'count')).location(1).sample([1], [(1 << 63) - 1]).sample([1], [1]), 'sum')
        self.assertFine(run('tree', self.make(Maker(('n', 'count')).location(1).sample([1], [(1 << 63) - 1]).sample([1], [1]).sample([1], [-1]))))
        refused(Maker(('n', 'count')).add(1, put(1, 99)), 'string-index')
        refused(Maker(('n', 'count')).add(2, b'\x0b'), 'protobuf')

    def test_cut_off_anywhere(self):
        """Every beginning is read or refused in words, packed or not."""
        data = go_heap().bytes()
        packed = gzip.compress(data)
        for whole, is_packed in ((data, False), (packed, True)):
            for size in range(0, len(whole), 7 if is_packed else 3):
                result = run('info', '--from', 'pprof', self.make(whole[:size], packed=False))
                self.assertIn(result.status, (0, 3), size)
                self.assertTrue(result.status == 0 or result.err.count('\n') == 1, result)
                self.assertFalse(is_packed and size and result.status == 0, size)

    def test_round_trip_keeps_everything(self):
        m = go_heap()
        m.sample([1], [1, 1, 1, 1], thread='t', bytes=8).add(7, m.text('drop.*')).add(8, m.text('keep')).add(13, [m.text('one'), m.text('two')])
        m.add(10, 77).add(15, m.text('https://example.org'))
        path, back = self.make(m), os.path.join(self.folder, 'back.pb.gz')
        result = run('convert', path, '-o', back, '--strict')
        self.assertFine(result)
        with open(back, 'rb') as file:
            self.assertEqual(m.bytes(), gzip.decompress(file.read()))


class Written(Case):
    """Other formats written as pprof: what an independent decoder finds is what SQL says."""

    def profile(self, source, *options, expect=None):
        path = os.path.join(self.folder, 'out.pb.gz')
        result = run('convert', os.path.join(EXAMPLES, source), '-o', path, *options)
        self.assertEqual(0, result.status, result)
        for text in expect or ():
            self.assertIn(text, result.err)
        return Profile(path)

    def own(self, source, metric):
        """{call path as names: exclusive value} of SQL's nodes."""
        result = run('sql', os.path.join(EXAMPLES, source), 'select c.path, sum(n.exclusive) as own from node n join context c on n.context = c.id join metric m on n.metric = m.id '
                     f"where m.name = '{metric}' group by c.path having own != 0", '--json')
        self.assertFine(result)
        return {tuple(row['path'].split('->')): row['own'] for row in result.json}

    def test_cube(self):
        p = self.profile('heat.cubex', expect=['metric computed from others'])
        self.assertEqual([('time', 'nanoseconds'), ('visits', 'count'), ('bytes_sent', 'bytes'), ('bytes_received', 'bytes')], p.types)
        for which, (name, _) in enumerate(p.types):
            expected, found = self.own('heat.cubex', name), {s: v for s, v in p.stacks(which).items() if v}
            self.assertEqual(set(expected), set(found), name)
            for stack, value in expected.items():
                if name == 'time':
                    self.assertAlmostEqual(value * 1e9, found[stack], delta=1)
                else:
                    self.assertEqual(value, found[stack])
        self.assertEqual('time', p.strings[p.raw.default_sample_type])

    def test_each_location(self):
        whole, p = self.profile('heat.cubex'), self.profile('heat.cubex', '-O', 'locations=each')
        visits = [name for name, _ in p.types].index('visits')
        labels = {p.labels(s)['location'] for s in p.raw.sample}
        self.assertGreater(len(labels), 1)
        self.assertEqual(whole.stacks(visits), p.stacks(visits))
        rows = run('sql', os.path.join(EXAMPLES, 'heat.cubex'), "select l.name, sum(v.value) as v from value v join location l on v.location = l.id join metric m on v.metric = m.id where m.name = 'visits' group by l.id",
                   '--json').json
        sums = {}
        for s in p.raw.sample:
            sums[p.labels(s)['location']] = sums.get(p.labels(s)['location'], 0) + s.value[visits]
        self.assertEqual(sorted(r['v'] for r in rows), sorted(sums.values()))

    def test_database_of_hpctoolkit(self):
        """Lines are lines of functions, not functions; sums are those of the whole program."""
        p = self.profile('heat-hpctoolkit')
        self.assertFalse([s for s in p.strings if s.startswith('line ')])
        self.assertTrue(any(line.line for location in p.raw.location for line in location.line))
        self.assertTrue({p.strings[m.filename] for m in p.raw.mapping})
        for which, (name, unit) in enumerate(p.types):
            rows = run('tree', os.path.join(EXAMPLES, 'heat-hpctoolkit'), '--metric', name, '--json').json
            total = rows['root']['values'][name]['inclusive']
            factor = 1e9 if unit == 'nanoseconds' else 1e6 if unit.startswith('millionths') else 1
            self.assertAlmostEqual(total * factor, sum(p.stacks(which).values()), delta=len(p.raw.sample) + 1e-9 * total * factor)

    def test_same_bytes_each_time(self):
        paths = [os.path.join(self.folder, f'{n}.pprof') for n in (1, 2)]
        for path in paths:
            self.assertEqual(0, run('convert', os.path.join(EXAMPLES, 'heat.cubex'), '-o', path).status)
        with open(paths[0], 'rb') as a, open(paths[1], 'rb') as b:
            self.assertEqual(a.read(), b.read())

    def test_there_and_back(self):
        path = os.path.join(self.folder, 'out.pb.gz')
        self.assertEqual(0, run('convert', os.path.join(EXAMPLES, 'heat.cubex'), '-o', path).status)
        result = run('sql', path, "select c.path, v.value from value v join context c on v.context = c.id join metric m on v.metric = m.id where m.name = 'visits' and v.value != 0", '--json')
        self.assertEqual(self.own('heat.cubex', 'visits'), {tuple(r['path'].split('->')): r['value'] for r in result.json})

    def test_what_does_not_fit_is_said(self):
        """A counter of 64 bits without a sign, and joules with fractions."""
        text = 'PARAMETER p\nPOINTS 1\nMETRIC energy\nREGION main\nDATA 1.25\n'
        path, out = self.write('e.txt', text), os.path.join(self.folder, 'e.pprof')
        self.assertEqual(0, run('convert', path, '-o', out).status)
        p = Profile(out)
        self.assertEqual([('energy', 'millionths of count')], p.types)
        self.assertEqual({('main',): 1250000}, p.stacks(0))

    NAMES = ('<module>', 'std::vector<int>::at(int)', '_Z3foov')

    def named(self):
        source = self.path('n.folded')
        with open(source, 'w') as file:
            file.write(''.join('all;%s %d\n' % (name, i + 1) for i, name in enumerate(self.NAMES)))
        self.assertFine(run('convert', source, self.path('n.pb.gz'), '--quiet'))
        return self.path('n.pb.gz')

    def test_an_empty_name_is_none(self):
        profile = '{"type":"sampled","name":"t","unit":"none","startValue":0,"endValue":1,"samples":[[0],[0,1],[1]],"weights":[1,2,3]}'
        source = self.write('empty.speedscope.json', '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":""},{"name":"f"}]},"profiles":[%s]}' % profile)
        self.assertIn('cannot hold the empty name of 1 call path (<unknown> stands there)', run('convert', source, self.path('empty.pb.gz')).err)
        paths = [row['path'] for row in run('sql', '--json', self.path('empty.pb.gz'), 'select path from context order by 1').json]
        self.assertEqual(['<unknown>', '<unknown>->f', 'f'], paths)

    def test_names_are_not_said_to_be_mangled(self):
        """pprof shortens the names of functions whose name is that of the system."""
        p = Profile(self.named())
        names = {p.strings[f.name]: p.strings[f.system_name] for f in p.functions.values()}
        self.assertEqual({'all': '', '<module>': '', 'std::vector<int>::at(int)': '', '_Z3foov': '_Z3foov'}, names)

    @unittest.skipUnless(shutil.which('go'), 'go is not installed (Debian: golang-go)')
    def test_pprof_shows_the_names(self):
        environment = dict(os.environ, HOME=self.folder, PPROF_TMPDIR=self.folder)
        answer = subprocess.run(['go', 'tool', 'pprof', '-top', self.named()], capture_output=True, text=True, env=environment)
        self.assertEqual(0, answer.returncode, answer.stderr)
        rows = {line.split(maxsplit=5)[5]: line.split()[0] for line in answer.stdout.splitlines() if line.count('%') == 3 and 'flat%' not in line}
        self.assertEqual({'all': '0', '<module>': '1', 'std::vector<int>::at(int)': '2', 'foo': '3'}, rows)


if __name__ == '__main__':
    main()
