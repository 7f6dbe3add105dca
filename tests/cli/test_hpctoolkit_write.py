"""HPCToolkit databases that the command writes: decoded again by hpctoolkit_decode.py, and compared with what was put in."""
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import hpctoolkit
from common import ASSAY, Case, main, run
from hpctoolkit_decode import decode_2021, decode_4

ROOT = os.environ.get('ASSAY_SOURCE', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
HEAT = os.path.join(ROOT, 'examples', 'heat.cubex')
DECODE = {'hpctoolkit-2021': decode_2021, 'hpctoolkit-4': decode_4}
SIDES = {'execution': 'inclusive', 'function': 'exclusive', 'point': 'point', 'lex_aware': 'lexical'}


class Writing(Case):
    def convert(self, form, source, name='out', *options):
        """The decoded database, and the notes about what it cannot hold."""
        r = run('convert', '--to', form, *options, source, self.path(name))
        self.assertEqual((0, ''), (r.status, r.out), r)
        return DECODE[form](self.path(name)), re.findall(r'^assay: note: \S+ cannot hold (.*)$', r.err, re.M)

    def small(self, form, db=None):
        db = db or hpctoolkit.small()
        directory = self.path('in-' + form)
        if form == 'hpctoolkit-2021':
            hpctoolkit.write_2021(directory, db)
        else:
            hpctoolkit.write_4(directory, db)
        return directory, db

    def values_of(self, db, sides):
        """What Decoded.values() should be."""
        out = {}
        for p in db.profiles:
            key = ' '.join(f'{kind}:{logical}:{physical}' for kind, logical, physical in p.elements)
            out[key] = {(c, m, SIDES[s]): v for (c, m, s), v in db.stored(p).items() if s in sides}
        return out

    def traces_of(self, db):
        return [sorted(p.trace, key=lambda s: s[0]) for p in db.profiles]


class FromDatabases(Writing):
    def test_the_same_form(self):
        for form, sides in (('hpctoolkit-2021', ('execution', 'function')), ('hpctoolkit-4', tuple(SIDES))):
            with self.subTest(form):
                source, db = self.small(form)
                after, losses = self.convert(form, source, 'out-' + form)
                self.assertEqual([], losses)
                self.assertEqual('small', after.title)
                self.assertEqual(self.values_of(db, sides), after.values())
                self.assertEqual(self.traces_of(db), after.traces)
                nodes = {n.id: n for n in db.nodes()}
                self.assertEqual({0, *nodes}, set(after.tree))
                parents = {c.id: n.id for n in db.nodes() for c in n.children}
                self.assertEqual({n: parents.get(n, 0) for n in nodes}, {n: p for n, (p, _, _) in after.tree.items() if n})
                if form == 'hpctoolkit-4':
                    self.assertEqual({n.id: ('lexical', 'call', 'inline').index(n.relation) for n in db.nodes() if n.kind != 'entry'}, after.relations)
                    self.assertEqual({n.name: (n.module, n.offset, n.file, n.line) for n in db.nodes() if n.kind == 'function'}, after.functions)
                    self.assertEqual({(m, SIDES[s]) for m in db.metrics for s in SIDES}, set(after.metrics.values()))

    def test_statistics_are_those_of_the_threads(self):
        for form in DECODE:
            source, db = self.small(form)
            found = self.convert(form, source, 'out-' + form)[0].statistics()
            # CPUTIME of main, inclusive: all that was measured, 0.5 + 2 + 0.25 + 1 + 0.125 + 0.5 and 0.25 + 3 + 1.5
            first, second = 4.375, 4.75
            expected = {'count': 2, 'sum': first + second, 'sumsq': first ** 2 + second ** 2, 'min': first, 'max': second}
            self.assertEqual(expected, {s: found[2, 'CPUTIME (sec)', 'inclusive', s] for s in expected})
            self.assertEqual(0.5 + 0.25, found[2, 'CPUTIME (sec)', 'exclusive', 'sum'])

    def test_stored_statistics_stay_as_they_are(self):
        # A writer's mistake in the summary profile is not repaired: it is what the database says.
        source, db = self.small('hpctoolkit-2021')
        b = bytearray(self.read('in-hpctoolkit-2021/profile.db'))
        offset = int.from_bytes(b[128 + 44:128 + 52], 'big')
        b[offset:offset + 8] = hpctoolkit.struct.pack('>d', 12345.5)
        self.write('in-hpctoolkit-2021/profile.db', bytes(b))
        self.assertIn(12345.5, self.convert('hpctoolkit-2021', source)[0].statistics().values())

    def test_there_and_back(self):
        source, db = self.small('hpctoolkit-2021')
        there, losses = self.convert('hpctoolkit-4', source, 'four')
        self.assertEqual(self.values_of(db, ('execution', 'function')), there.values())
        self.assertEqual(self.traces_of(db), there.traces)
        self.assertEqual((0, 'entry', '<program root>'), there.tree[1])
        self.assertEqual((2, 'line', './src/main.c:9'), there.tree[4], 'a call site is a line')
        self.assertEqual((4, 'function', 'solve'), there.tree[5])
        self.assertEqual({4: 0, 5: 1, 6: 0, 10: 2}, {k: there.relations[k] for k in (4, 5, 6, 10)})
        self.assertEqual(('/opt/app/bin/app', 0x400, './src/solve.c', 20), there.functions['solve'])
        self.assertEqual(['static_id', 'class'], re.findall(r'static_id|class', ' '.join(losses)))
        same, _ = self.convert('hpctoolkit-2021', source, 'same')
        back, _ = self.convert('hpctoolkit-2021', self.path('four'), 'back')
        self.assertEqual((same.tree, same.values(), same.traces, same.statistics(), same.title),
                         (back.tree, back.values(), back.traces, back.statistics(), back.title))
        self.assertEqual(sorted(same.metrics.values()), sorted(back.metrics.values()))
        self.assertEqual([bits for _, bits, _ in same.profiles], [bits for _, bits, _ in back.profiles])

    def test_lines_of_calls(self):
        """In form 4 they are contexts around what is called; that of an inlined function in a loop has none."""
        source, _ = self.small('hpctoolkit-2021')
        text = self.read('in-hpctoolkit-2021/experiment.xml')
        self.assertEqual(1, len(re.findall(rb'<C i="-10"[^>]* l="3"', text)))
        self.write('in-hpctoolkit-2021/experiment.xml', re.sub(rb'(<C i="-10"[^>]* l=)"3"', rb'\1"27"', text))

        def lines(directory):
            return {int(row['source_id']): row['line'] for row in run('sql', '--json', directory, 'select source_id, line from context where line is not null').json}
        # Call sites and what they call, and the inlined function
        self.assertEqual({4: 9, 5: 9, 12: 30, 13: 30, 15: 10, 16: 10, 10: 27}, lines(source))
        _, losses = self.convert('hpctoolkit-2021', source, 'same')
        self.assertEqual(([], lines(source)), (losses, lines(self.path('same'))))
        four, losses = self.convert('hpctoolkit-4', source, 'four')
        self.assertIn('the line of the call of 1 context', losses)
        self.assertEqual({5: './src/main.c:9', 13: './src/solve.c:30', 16: './src/main.c:10'}, {id: four.tree[four.tree[id][0]][2] for id in (5, 13, 16)})

    def test_the_other_way_loses_point_and_lexical_values(self):
        source, db = self.small('hpctoolkit-4')
        found, losses = self.convert('hpctoolkit-2021', source)
        self.assertIn('point and lexical values (4 metrics)', losses)
        self.assertEqual(self.values_of(db, ('execution', 'function')), found.values())
        self.assertEqual(self.traces_of(db), found.traces)
        names = [(k, n) for _, k, n in found.tree.values() if k in ('function', 'loop')]
        self.assertIn(('function', 'square'), names)
        self.assertIn(('loop', './src/solve.c:24'), names)

    def test_drafts(self):
        db = hpctoolkit.small()
        hpctoolkit.write_4(self.path('draft'), db, entry_size=40)
        self.assertEqual(self.values_of(db, tuple(SIDES)), self.convert('hpctoolkit-4', self.path('draft'))[0].values())

    def test_what_assay_reads_is_what_it_read_before(self):
        tables = {'context': 'select source_id, name, path, depth from context order by id', 'location': 'select kind, rank, leaf from location order by id',
                  'value': 'select c.source_id, m.name, m.kind, l.source_id as l, value from value v join context c on c.id = v.context join metric m on m.id = v.metric '
                           'join location l on l.id = v.location order by 1, 2, 3, 4',
                  'summary': 'select c.source_id, m.name, m.kind, statistic, s.value from summary s join context c on c.id = s.context join metric m on m.id = s.metric where statistic in (\'count\', \'sum\', \'sumsq\', \'min\', \'max\') order by 1, 2, 3, 4',
                  'event': 'select l.source_id, start_raw, start, c.source_id as c from event e join location l on l.id = e.location join context c on c.id = e.context order by 1, 2',
                  'attribute': "select owner, owner_id, key, value from attribute where owner <> 'dataset' or key = 'title' order by 1, 2, 3"}
        for form in DECODE:
            source, _ = self.small(form)
            self.convert(form, source, 'out-' + form)
            for name, statement in tables.items():
                with self.subTest(form=form, table=name):
                    before, after = (run('sql', '--json', d, statement).json for d in (source, self.path('out-' + form)))
                    self.assertTrue(before or name == 'attribute')
                    self.assertEqual(before, after)

    def test_sources_go_along(self):
        source, _ = self.small('hpctoolkit-2021')
        os.makedirs(os.path.join(source, 'src', 'deep'))
        self.write('in-hpctoolkit-2021/src/solve.c', 'int solve;\n')
        self.write('secret', 'not for anybody')
        self.convert('hpctoolkit-4', source)
        self.assertEqual(b'int solve;\n', self.read('out/src/solve.c'))
        self.assertEqual(['solve.c'], os.listdir(self.path('out/src')))
        self.convert('hpctoolkit-2021', self.path('out'), 'back')
        self.assertEqual(b'int solve;\n', self.read('back/src/solve.c'))

    def test_a_file_that_leads_out_is_not_copied(self):
        db = hpctoolkit.small()
        for node in db.nodes():
            node.file = './src/../../secret' if node.file else None
        source, _ = self.small('hpctoolkit-2021', db)
        os.mkdir(os.path.join(source, 'src'))
        self.write('secret', 'not for anybody')
        self.convert('hpctoolkit-4', source)
        self.assertFalse(os.path.exists(self.path('out/src')))

    def test_links_that_lead_out_are_not_copied(self):
        """Nor is a pipe waited for: whoever made the database could have files of others sent along."""
        secret = self.write('secret', 'not for anybody\nstandard:\n')
        for form, name in (('hpctoolkit-2021', 'src/solve.c'), ('hpctoolkit-4', 'metrics/default.yaml')):
            source, _ = self.small(form)
            path = os.path.join(source, name)
            os.mkdir(os.path.dirname(path))
            os.symlink(secret, path)
            self.convert('hpctoolkit-4', source, 'out-' + form)
            for folder, _, names in os.walk(self.path('out-' + form)):
                for found in names:
                    with open(os.path.join(folder, found), 'rb') as f:
                        self.assertNotIn(b'not for anybody', f.read())
        source = self.path('in-hpctoolkit-2021')
        os.remove(os.path.join(source, 'src', 'solve.c'))
        os.mkfifo(os.path.join(source, 'src', 'solve.c'))
        self.convert('hpctoolkit-4', source, 'out-of-pipe')
        os.remove(os.path.join(source, 'src', 'solve.c'))
        self.write('in-hpctoolkit-2021/src/mine', 'int mine;\n')
        os.symlink('mine', os.path.join(source, 'src', 'solve.c'))
        self.convert('hpctoolkit-4', source, 'out-of-link')
        self.assertEqual(b'int mine;\n', self.read('out-of-link/src/solve.c'))

    def test_metric_descriptions_of_the_same_form_are_kept(self):
        source, _ = self.small('hpctoolkit-4')
        os.mkdir(os.path.join(source, 'metrics'))
        self.write('in-hpctoolkit-4/metrics/default.yaml', 'version: 0\ninputs: []\nroots: []\n# mine, of the shape with standard:\n')
        self.convert('hpctoolkit-4', source)
        self.assertIn(b'# mine', self.read('out/metrics/default.yaml'))
        self.convert('hpctoolkit-4', os.path.join(source, 'meta.db'), 'by-file')
        self.assertIn(b'# mine', self.read('by-file/metrics/default.yaml'))

    def test_more_metrics_than_one_byte_has_ids_for(self):
        db = hpctoolkit.small()
        db.metrics, db.extra = [f'm{i}' for i in range(100)], {}
        db.profiles[0].costs = {(3, f'm{i}'): i + 1.0 for i in range(100)}
        source, _ = self.small('hpctoolkit-4', db)
        found, _ = self.convert('hpctoolkit-2021', source)
        self.assertEqual({(f'm{i}', k) for i in range(100) for k in ('inclusive', 'exclusive')}, set(found.metrics.values()))
        self.assertEqual(100.0, found.statistics()[0, 'm99', 'inclusive', 'sum'])
        self.assertEqual({(f'm{i}', i + 1.0) for i in range(100)}, {(name, v) for (c, name, kind), v in found.values()['NODE:0:713047168 RANK:0:0 THREAD:0:0'].items() if c == 0})
        self.assertIn('shifted by 4 bits', self.read('out/FORMATS.md').decode())

    def test_names_that_need_care(self):
        db = hpctoolkit.small()
        db.title = 'a "title" & <more>'
        db.nodes()[1].name = 'operator"" _km<long>(größe\u4e16)'
        db.metrics = ['CPUTIME (sec)', 'a "b" & c']
        source, _ = self.small('hpctoolkit-4', db)
        for form in DECODE:
            found, _ = self.convert(form, source, 'out-' + form)
            self.assertEqual(db.title, found.title)
            self.assertEqual('operator"" _km<long>(größe\u4e16)', found.tree[2][2])
            self.assertIn('a "b" & c', {name for name, _ in found.metrics.values()})
        self.assertIn('metric: "a \\"b\\" & c"', self.read('out-hpctoolkit-4/metrics/default.yaml').decode())


class FromOtherFormats(Writing):
    """examples/heat.cubex: exclusive visits and bytes, inclusive time, eight processes."""

    def test_units_in_names_stay_as_they_are(self):
        """A database's metrics have their units in their names; these are not put there again on the way back."""
        hpctoolkit.write_4(self.path('db'), hpctoolkit.small())
        for source, out in (('db', 'db.cubex'), ('db.cubex', 'back')):
            result = run('convert', '--to', 'cube' if out.endswith('cubex') else 'hpctoolkit-4', self.path(source), self.path(out))
            self.assertEqual(0, result.status, result)
        metrics = run('sql', '--json', self.path('back'), "select distinct name, unit from metric where kind = 'inclusive' order by name").json
        self.assertEqual([('CPUTIME (sec)', 'sec'), ('cycles', None)], [(m['name'], m['unit']) for m in metrics])

    def expected(self):
        """{(metric, kind): {(path, rank): value}}, by adding up the values of the Cube file along its tree, or taking those of the children off."""
        contexts = run('sql', '--json', HEAT, 'select id, parent, path from context order by id').json
        rows = run('sql', '--json', HEAT, "select m.name || ' (' || m.unit || ')' as m, m.kind, v.context, l.rank, v.value from value v join metric m on m.id = v.metric "
                                          'join location t on t.id = v.location join location l on l.id = t.parent where v.value <> 0').json
        path, parent = {c['id']: c['path'] for c in contexts}, {c['id']: c['parent'] for c in contexts}
        out, add = {}, lambda m, k, c, r, v: out.setdefault((m, k), {}).__setitem__((c, r), out.setdefault((m, k), {}).get((c, r), 0) + v)
        for row in rows:
            m, c, r, v = row['m'], row['context'], row['rank'], row['value']
            add(m, row['kind'], path[c], r, v)
            if row['kind'] == 'exclusive':
                while c is not None:
                    add(m, 'inclusive', path[c], r, v)
                    c = parent[c]
                add(m, 'inclusive', '', r, v)
            else:
                add(m, 'exclusive', path[c], r, v)
                if parent[c] is not None:
                    add(m, 'exclusive', path[parent[c]], r, -v)
                else:
                    add(m, 'inclusive', '', r, v)
        return out

    def found(self, db):
        paths = {}
        for id, (parent, kind, name) in db.tree.items():
            above = paths.get(parent, '')
            paths[id] = above if kind in ('root', 'entry') else f'{above}->{name}' if above else name
        out = {}
        for elements, _, values in db.profiles:
            rank = dict((kind, logical) for kind, logical, _ in elements)['RANK']
            for (c, m), v in values.items():
                if db.tree[c][1] != 'entry':
                    out.setdefault(db.metrics[m], {})[paths[c], rank] = v
        return out

    def test_cube(self):
        expected = self.expected()
        self.assertEqual(8, len(expected))
        for form in DECODE:
            db, losses = self.convert(form, HEAT, form)
            found = self.found(db)
            self.assertEqual(set(expected), set(found))
            for key, values in expected.items():
                for at in set(values) | set(found[key]):
                    self.assertAlmostEqual(values.get(at, 0), found[key].get(at, 0), delta=1e-12 * max(1, abs(values.get(at, 0))), msg=f'{key} {at}')
            self.assertIn('1 derived metric, of which there are formulas only', losses)
            self.assertEqual([('NODE', 0, 0), ('RANK', 0, 0), ('THREAD', 0, 0)], db.profiles[0][0])
            self.assertEqual(form, run('info', '--json', self.path(form)).json['format'])

    def test_an_entry_point_stands_for_the_program(self):
        db, _ = self.convert('hpctoolkit-4', HEAT)
        entry, = [id for id, (_, kind, _) in db.tree.items() if kind == 'entry']
        self.assertEqual((0, 'entry', 'main thread'), db.tree[entry])
        for _, _, values in db.profiles:
            self.assertEqual({m: v for (c, m), v in values.items() if c == 0}, {m: v for (c, m), v in values.items() if c == entry})

    def test_files_beside_the_databases(self):
        self.convert('hpctoolkit-2021', HEAT, 'old')
        self.assertEqual(['FORMATS.md', 'cct.db', 'experiment.xml', 'profile.db', 'trace.db'], sorted(os.listdir(self.path('old'))))
        text = self.read('old/FORMATS.md').decode()
        self.assertIn('shifted by 8 bits', text)
        for word in ('big-endian', 'tfBDFORP', '0x656E6421', 'HPCPROF-tracedb_'):
            self.assertIn(word, text)
        self.convert('hpctoolkit-4', HEAT, 'new')
        self.assertEqual(['cct.db', 'meta.db', 'metrics', 'profile.db'], sorted(os.listdir(self.path('new'))), 'nothing was traced')
        text = self.read('new/metrics/default.yaml').decode()
        names = set(re.findall(r'&(\S+)', text))
        self.assertEqual(names, set(re.findall(r'\*([^\s,\]]+)', text)))
        self.assertEqual(4 * 2 * 5, len(names))

    def test_one_run_of_several(self):
        text = 'PARAMETER p\nPOINTS 1 2\nMETRIC time\nREGION main->a\nDATA 1\nDATA 2\nREGION main->b\nDATA 10\nDATA 20\n'
        f = self.write('a.txt', text)
        self.assertFails(run('convert', '-q', '--to', 'hpctoolkit-2021', f, self.path('out')), 3, 'one run, and there are 2', '-O run=0')
        self.assertFails(run('convert', '-q', '--to', 'hpctoolkit-4', '-O', 'run=2', f, self.path('out')), 2, 'no run 2')
        for form in DECODE:
            db, losses = self.convert(form, f, form, '-O', 'run=1')
            values, = db.values().values()
            names = {(db.tree[c][2], kind): v for (c, name, kind), v in values.items()}
            self.assertEqual({2.0, 20.0}, {names['a', 'exclusive'], names['b', 'exclusive']})
            self.assertEqual([[('RANK', 0, 0)]], [p[0] for p in db.profiles])
            self.assertIn('1 parameter', losses)
            self.assertTrue(any('1 of 2 runs' in l for l in losses), losses)

    def test_large_numbers_are_told(self):
        f = self.write('a.txt', 'PARAMETER p\nPOINTS 1\nMETRIC n\nREGION main->a\nDATA 9007199254740993\nREGION main->b\nDATA 5\n')
        self.assertIn('the last digits of 1 value above 2^53', self.convert('hpctoolkit-4', f)[1])

    def test_a_very_deep_tree(self):
        depth = 9000
        f = self.write('a.txt', 'PARAMETER p\nPOINTS 1\nMETRIC time\nREGION ' + '->'.join(f'f{i}' for i in range(depth)) + '\nDATA 1\n')
        for form in DECODE:
            db, _ = self.convert(form, f, form)
            self.assertEqual(f'f{depth - 1}', db.tree[depth][2])
            self.assertEqual(depth, run('sql', '--json', self.path(form), 'select max(depth) as d from context').json[0]['d'] - (form == 'hpctoolkit-4'))


class Directories(Writing):
    def tree_of(self, name):
        return {os.path.relpath(os.path.join(d, f), self.path(name)): self.read(os.path.join(d, f)) for d, _, files in os.walk(self.path(name)) for f in files}

    def test_the_bytes_do_not_depend_on_threads(self):
        one = lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        for form in DECODE:
            self.assertEqual(0, run('convert', '-q', '--to', form, HEAT, self.path(form + '-all')).status)
            self.assertEqual(0, run('convert', '-q', '--to', form, HEAT, self.path(form + '-one'), preexec_fn=one).status)
            self.assertEqual(self.tree_of(form + '-all'), self.tree_of(form + '-one'))

    def test_what_is_there_stays(self):
        os.mkdir(self.path('out'))
        self.convert('hpctoolkit-2021', HEAT)
        before = self.tree_of('out')
        self.assertFails(run('convert', '-q', '--to', 'hpctoolkit-4', HEAT, self.path('out')), 3, 'not empty')
        self.assertEqual(before, self.tree_of('out'))
        self.assertEqual(['out'], self.files())

    def test_a_database_is_not_written_over_itself(self):
        source, _ = self.small('hpctoolkit-4')
        before = self.tree_of('in-hpctoolkit-4')
        r = run('convert', '-q', '--to', 'hpctoolkit-4', source, source)
        self.assertEqual(('', 3), (r.out, r.status), r)
        self.assertEqual(before, self.tree_of('in-hpctoolkit-4'))

    def test_no_room_leaves_nothing(self):
        for form in DECODE:
            for limit in (100, 3000, 9000):
                r = run('convert', '-q', '--to', form, HEAT, self.path('out'), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                self.assertFails(r, 3, 'out/')
                self.assertEqual([], self.files())

    def test_damaged_values_leave_nothing(self):
        source, _ = self.small('hpctoolkit-2021')
        shutil.copytree(source, self.path('bad'))
        b = bytearray(self.read('bad/profile.db'))
        b[128 + 52 + 44:128 + 52 + 52] = (1 << 60).to_bytes(8, 'big')
        self.write('bad/profile.db', bytes(b))
        self.assertFails(run('convert', '-q', '--to', 'hpctoolkit-4', self.path('bad'), self.path('out')), 3, 'profile.db')
        self.assertFalse(os.path.exists(self.path('out')))

    def test_a_signal_leaves_nothing(self):
        f = self.write('a.txt', 'PARAMETER p\nPOINTS 1\nMETRIC time\n' + ''.join(f'REGION main->f{i}\nDATA 1\n' for i in range(100000)))
        p = subprocess.Popen([ASSAY, 'convert', '-q', '--to', 'hpctoolkit-2021', f, self.path('out')], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while p.poll() is None and time.monotonic() < end and len(self.files()) == 1:              # until it grows
            pass
        p.send_signal(signal.SIGTERM)
        self.assertEqual(-signal.SIGTERM, p.wait(60))
        self.assertEqual(['a.txt'], self.files())

    def test_strict(self):
        self.assertEqual(1, run('convert', '--strict', '--to', 'hpctoolkit-2021', HEAT, self.path('out')).status)
        self.assertEqual([], self.files())


if __name__ == '__main__':
    main()
