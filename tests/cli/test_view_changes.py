"""Files that are cut, emptied or written over while assay view has them open: it goes on, says so of these, and answers of the others."""
import json
import os
import shutil
import subprocess
import threading
import time

from common import Case, main
from viewer import ASSAY, Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
OTHER = os.path.join(EXAMPLES, 'heat-2.cubex')
QUESTIONS = [('overview', {}), ('findings', {}), ('tree', {}), ('tree', {'view': 'flat'}), ('tree', {'view': 'bottom-up'}), ('flame', {}), ('locations', {}), ('location_tree', {}), ('node', {'context': 1}),
             ('timeline', {}), ('timeline_picture', {'rows': '0-9'}), ('intervals', {'row': 0}), ('scale', {}), ('compare', {'a': 0, 'b': 1}), ('schema', {})]
STATEMENTS = ['select count(*), sum(inclusive) from node', 'select count(*) from event', 'select count(*), sum(value) from value']
LONG = b'with recursive r(x) as (select 1 union all select x + 1 from r limit 100000) select sum(v.value * r.x) from r, value v'


def cut(path):
    os.truncate(path, 0)


def halve(path):
    os.truncate(path, os.path.getsize(path) // 2)


def garble(path):
    with open(path, 'r+b') as f:
        f.write(b'\xa5' * os.path.getsize(path))


class Changes(Case):
    def inputs(self):
        """One of each format, each to be copied."""
        made = {}
        for name in ('heat.cubex', 'heat-hpctoolkit', 'kernels.txt', 'sort-1.perf', 'simulation.afperf', 'gpu/filter.sqlite', 'gpu/bodies', 'waves-extra-prof'):
            made[name] = os.path.join(EXAMPLES, name)
        for source, name, *options in (('heat.cubex', 'heat.pb.gz'), ('heat.cubex', 'heat.folded'), ('heat-hpctoolkit', 'heat.speedscope.json'), ('kernels.txt', 'kernels.extra-p'), ('kernels.txt', 'kernels.json'),
                                       ('heat-hpctoolkit', 'heat-2021', '--to', 'hpctoolkit-2021')):
            made[name] = self.path('made-' + name)
            subprocess.run([ASSAY, 'convert', '-q', *options, os.path.join(EXAMPLES, source), made[name]], check=True)
        return made

    def copy(self, source):
        to = self.path('copy-' + os.path.basename(source))
        if os.path.isdir(source):
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(source, to)
        else:
            shutil.copyfile(source, to)
        return to

    @staticmethod
    def files(path):
        return [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names] if os.path.isdir(path) else [path]

    def ask_all(self, viewer):
        """What was refused, and how many answers there were."""
        refused, answered = set(), 0
        for name, params in QUESTIONS:
            try:
                viewer.get(name, **params)
                answered += 1
            except Refused as error:
                self.assertIn(error.status, (400, 422), f'{name}: {error}')
                refused.add(error.message)
        for statement in STATEMENTS:
            try:
                viewer.post('sql', statement.encode(), d=0)
                answered += 1
            except Refused as error:
                refused.add(error.message)
        return refused, answered

    def check(self, change):
        held = set()
        for name, source in self.inputs().items():
            with self.subTest(name):
                path = self.copy(source)
                with Viewer(path, OTHER) as viewer:
                    viewer.get('overview')
                    for file in self.files(path):
                        change(file)
                    refused, answered = self.ask_all(viewer)
                    is_held = any('changed while it was open' in message for message in refused)
                    self.assertFalse(is_held and answered, f'{answered} answers of files that are no more what they were')
                    listed = viewer.get('inputs')['inputs']
                    self.assertEqual(is_held, listed[0]['error'] is not None)
                    if is_held:
                        held.add(name)
                        self.assertEqual('changed', listed[0]['error']['rule'])
                        with self.assertRaises(Refused) as caught:
                            viewer.get('tree', d=0)
                        self.assertEqual(422, caught.exception.status)
                        self.assertIn(json.loads(caught.exception.body)['file'], self.files(path))
                    self.assertIsNone(listed[1]['error'])
                    self.assertTrue(viewer.get('tree', d=1)['rows'], 'the other one is as it was')
                    self.assertEqual(0, viewer.end()[0])
        # These stay in their files, and are read when they are asked for
        self.assertLessEqual({'heat.cubex', 'heat-hpctoolkit', 'heat-2021', 'sort-1.perf', 'simulation.afperf'}, held)

    def test_emptied(self):
        self.check(cut)

    def test_halved(self):
        self.check(halve)

    def test_written_over(self):
        self.check(garble)

    def test_replaced(self):
        """Another file under the name is not the one that was opened, which is still there for who has it."""
        path = self.copy(os.path.join(EXAMPLES, 'heat.cubex'))
        with Viewer(path) as viewer:
            before = viewer.get('tree', metric='time')
            os.replace(self.write('new', b'nothing'), path)
            self.assertEqual(before, viewer.get('tree', metric='time'))
            os.remove(path)
            self.assertTrue(viewer.get('flame', metric='time')['name'])

    def cut_under(self, *questions):
        """The input is cut while questions about it wait for their answers: all say so, and the other input is told as before."""
        path = self.copy(os.path.join(EXAMPLES, 'heat-hpctoolkit'))
        with Viewer(path, OTHER) as viewer:
            answers = []

            def ask(question):
                try:
                    answers.append(question(viewer))
                except Refused as error:
                    answers.append(error.message)
            threads = [threading.Thread(target=ask, args=(question,)) for question in questions]
            for thread in threads:
                thread.start()
                time.sleep(0.2)
            for file in self.files(path):
                cut(file)
            self.assertTrue(viewer.get('tree', d=1)['rows'])
            for thread in threads:
                thread.join()
            self.assertEqual(len(questions), len(answers))
            for answer in answers:
                self.assertIn('changed while it was open', answer)
            self.assertEqual(0, viewer.end()[0])

    def test_while_it_is_read(self):
        """Statements read the file while it is cut."""
        self.cut_under(*[lambda viewer: viewer.post('sql', LONG, d=0)['rows']] * 2)

    def test_while_others_wait_for_it(self):
        """Models are made when no statement reads the input any more: by then it is gone."""
        self.cut_under(lambda viewer: viewer.post('sql', LONG, d=0), lambda viewer: viewer.get('scale', d=0))


if __name__ == '__main__':
    main()
