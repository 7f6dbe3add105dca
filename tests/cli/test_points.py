"""Points of one experiment that are given one by one, as the shell makes them of app.p*: with model, predict, view and report they are the set that they lie in."""
import os

from common import Case, main, run
from cubex import small
from extraprof import node, profile as extra_prof
from viewer import Viewer


class Points(Case):
    """time of main->sort: 10 n"""

    def setUp(self):
        super().setUp()
        for n in (1, 2, 4, 8, 16, 32):
            self.point(f'app.n{n}', n)

    def point(self, directory, n, name='profile.cubex'):
        os.makedirs(self.path('set/' + directory), exist_ok=True)
        return self.write(f'set/{directory}/{name}', small([[1.0, 1.0], [10.0 * n, 10.0 * n], [5.0, 5.0], [5.0, 5.0]]))

    def of(self, *numbers, ending=''):
        return [self.path(f'set/app.n{n}{ending}') for n in numbers]

    def assertSame(self, *args, whole=None):
        whole = whole or [self.path('set')]
        self.assertEqual(run('model', '--csv', *whole).out, run('model', '--csv', *args).out)
        self.assertIn('main->sort,', run('model', '--csv', *args).out)

    def test_all_of_a_set(self):
        self.assertSame(*self.of(32, 1, 2, 4, 8, 16))
        self.assertSame(*self.of(32, 1, 2, 4, 8, 16, ending='/'))
        self.assertSame(*self.of(1, 2, 4, 8, 16, 32, ending='/profile.cubex'))
        self.assertSame(*self.of(1, 1, 2, 4, 8, 16, 32), whole=[self.path('set')])

    def test_some_of_a_set(self):
        chosen = ['-O', 'points=app.n1:app.n2:app.n4:app.n8:app.n16', self.path('set')]
        self.assertNotEqual(run('model', '--csv', self.path('set')).out, run('model', '--csv', *chosen).out)
        self.assertSame(*self.of(1, 2, 4, 8, 16), whole=chosen)
        self.assertSame(*self.of(16, 8, 4, 2, 1, ending='/profile.cubex'), whole=chosen)
        info = run('info', '--json', *chosen).json
        self.assertEqual((5, 5), (info['points'], info['runs']))
        self.assertFails(run('info', '-O', 'points=app.n1:app.n3', self.path('set')), 2, "no directory 'app.n3'")
        self.assertFails(run('info', '-O', 'points=', self.path('set'), '-O', 'points=:'), 2, "no directory ''")

    def test_where_they_lie(self):
        here = [f'app.n{n}' for n in (1, 2, 4, 8, 16, 32)]
        inside = run('model', '--csv', *here, cwd=self.path('set'))
        self.assertFine(inside)
        self.assertEqual(run('model', '--csv', self.path('set')).out, inside.out)

    def test_what_is_no_set_stays(self):
        a, b = self.of(1, 2)
        self.assertFails(run('model', a, self.write('line.txt', 'POINTS 1\n')), 3, 'is no set')
        self.assertFails(run('model', '--from', 'cube', a, b), 3, 'is a directory')
        self.assertFails(run('model', f'{a}/profile.cubex', f'{a}/profile.cubex'), 2, 'no one experiment')
        self.assertFails(run('info', a), 3, 'is no set')
        self.assertFails(run('model', a, a), 3, 'no parameter varies')
        os.rename(a, self.path('app.n1'))
        self.assertFails(run('model', self.path('app.n1'), b), 3, 'is no set')

    def test_files_of_a_point_belong_together(self):
        """A file that was left out is meant to be left out: only whole points are read."""
        self.point('app.n4', 400, 'second.cubex')
        files = self.of(1, 2, 4, 8, 16, 32, ending='/profile.cubex')
        self.assertFails(run('model', *files), 2, 'no one experiment')
        self.assertSame(*files, self.path('set/app.n4/second.cubex'))

    def inputs(self, *args):
        with Viewer(*args) as viewer:
            answer = viewer.get('inputs')
            return [(i['path'], i['has']['points']) for i in answer['inputs']], answer['reading']

    def test_viewer(self):
        whole = self.path('set')
        self.assertEqual(([(whole, 6)], []), self.inputs(*self.of(1, 2, 4, 8, 16, 32)))
        self.assertEqual(([(whole, 2)], ['-O', 'points=app.n1:app.n2']), self.inputs(*self.of(2, 1)))
        self.assertEqual(([(whole, 3)], ['-O', 'full-uint64=yes', '-O', 'points=app.n1:app.n2:app.n8']), self.inputs('-O', 'full-uint64=yes', *self.of(1, 2, 8, ending='/profile.cubex')))

    def test_two_files_are_compared(self):
        pair = self.of(1, 2, ending='/profile.cubex')
        self.assertEqual(([(p, 0) for p in pair], []), self.inputs(*pair))
        for r in ('.r1', '.r2', '.r3'):
            self.point('app.n64' + r, 64)
        repetitions = [self.path(f'set/app.n64.r{r}/profile.cubex') for r in (1, 2, 3)]
        self.assertEqual(([(p, 0) for p in repetitions], []), self.inputs(*repetitions))

    def test_extra_prof(self):
        folders = [self.path(f'prof/app.p{p}') for p in (2, 4, 8)]
        for i, folder in enumerate(folders):
            os.makedirs(folder)
            self.write(f'prof/app.p{2 << i}/0.extra-prof.msgpack', extra_prof(node('main', 100 << i)))
        self.assertEqual(([(self.path('prof'), 3)], []), self.inputs(*folders))
        self.assertEqual(run('model', '--csv', self.path('prof')).out, run('model', '--csv', *folders).out)

    def test_reading(self):
        with Viewer('--from', 'cube', '-O', 'full-uint64=yes', self.of(1, ending='/profile.cubex')[0]) as viewer:
            self.assertEqual(['--from', 'cube', '-O', 'full-uint64=yes'], viewer.get('inputs')['reading'])

    def test_models_in_the_viewer(self):
        with Viewer(*self.of(1, 2, 4, 8, 16)) as viewer:
            answer = viewer.get('scale', d=0)
            self.assertEqual([1, 2, 4, 8, 16], answer['parameters'][0]['values'])
            self.assertEqual([1, 2, 4, 8, 16], viewer.get('scale', d=0, scaling='strong')['parameters'][0]['values'])

    def test_report(self):
        self.assertFine(run('report', *self.of(1, 2, 4, 8, 16, 32), '-o', self.path('r.html')))
        self.assertIn(b'n = 1, 2, 4, 8, 16, 32', self.read('r.html'))


if __name__ == '__main__':
    main()
