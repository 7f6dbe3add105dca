"""Exports that say less than usual, or something odd: what is there counts, and what cannot be is told."""
import nsight_make as make
from common import Case, main, run

HUGE = 2**63 - 1


class Odd(Case):
    def export(self, x):
        self.n = getattr(self, 'n', 0) + 1
        return x.write(self.path(f'{self.n}.sqlite'))

    def rows(self, path, statement):
        return [tuple(row.values()) for row in run('sql', '--json', path, statement).json]

    def paths(self, path, metric='time'):
        """Nanoseconds, counts or bytes of each call path."""
        scale = 1e9 if 'time' in metric else 1
        found = self.rows(path, f"select c.path, sum(value) from value v join metric m on m.id=v.metric join context c on c.id=v.context where m.name='{metric}' group by c.id")
        return {name: round(value * scale) for name, value in found}

    def problems(self, path):
        return dict(self.rows(path, 'select rule, message from problem'))

    def test_calls_that_name_no_process(self):
        """A process that only one side names is none to go by."""
        for thread in (None, 0):
            x = make.Export()
            x.row(make.RUNTIME, start=10, end=30, globalTid=thread, correlationId=5, nameId=x.string('cudaLaunchKernel'))
            x.kernel('k', 40, 90, correlation=5)
            x.kernel('k', 100, 120, correlation=5, process=0)
            x.kernel('j', 200, 230, correlation=6)
            self.assertEqual({'process 0->thread 0->cudaLaunchKernel->GPU k': 70, '[Uncorrelated]->GPU j': 30}, self.paths(self.export(x), 'gpu_time'))

    def test_call_of_the_process_comes_first(self):
        x = make.Export()
        x.call('cudaLaunchKernel', 10, 30, correlation=5, thread=0)
        x.call('cudaLaunchKernelExC', 20, 60, correlation=5)
        x.kernel('k', 40, 90, correlation=5)
        self.assertEqual({'process 1000->thread 1->cudaLaunchKernelExC->GPU k': 50}, self.paths(self.export(x), 'gpu_time'))

    def test_call_without_a_chain(self):
        """Some writers have -1 where others have NULL."""
        x = make.Export(make.OLD)
        x.row(make.RUNTIME, start=10, end=30, globalTid=x.thread, correlationId=1, nameId=x.string('cudaFoo'), callchainId=x.chain(['main']) - 1)
        x.row(make.RUNTIME, start=40, end=45, globalTid=x.thread, correlationId=2, nameId=x.string('cudaBar'), callchainId=-1)
        self.assertEqual({'main->cudaFoo': 20, '[Uncorrelated]->cudaBar': 5}, self.paths(self.export(x)))

    def test_frames_without_a_depth(self):
        x = make.Export(make.OLD)
        x.call('cudaFoo', 10, 30, chain=x.chain(['main']))
        x.row('CUDA_CALLCHAINS', id=1, stackDepth='deep', symbol=x.string('f'))
        path = self.export(x)
        self.assertEqual({'main->cudaFoo': 20}, self.paths(path))
        self.assertIn('1 row of table CUDA_CALLCHAINS', self.problems(path)['wrong-type'])

    def test_value_of_a_memset_is_of_32_bits(self):
        x = make.Export()
        x.call('cudaMemset', 10, 30)
        x.memset(-1, 15, 25, bytes=8)
        path = self.export(x)
        self.assertEqual([('MEMSET 4294967295',)], self.rows(path, "select name from event where kind='memset'"))
        self.assertEqual({'process 1000->thread 1->cudaMemset->GPU MEMSET': 8}, self.paths(path, 'bytes'))

    def test_what_is_not_said_is_no_attribute(self):
        x = make.Export()
        x.call('cudaMemcpy', 10, 30)
        x.copy(make.TO_DEVICE, 12, 20, source=None, target=make.DEVICE)
        x.kernel('k', 40, 90, grid=(4, None, 1))
        found = self.rows(self.export(x), "select e.kind, key, value from attribute a join event e on e.id=a.owner_id where owner='event' and (key like '%kind' or key in ('grid', 'block'))")
        self.assertEqual([('kernel', 'block', '32,1,1'), ('memcpy', 'dst_kind', 'device')], found)

    def test_sums_beyond_64_bits(self):
        """They end where numbers do; nothing becomes small again."""
        x = make.Export()
        x.call('cudaMemcpy', 0, 10)
        for _ in range(3):
            x.copy(make.TO_DEVICE, 0, HUGE, bytes=HUGE)
        path = self.export(x)
        self.assertEqual([(str(2**64 - 1),)], self.rows(path, "select cast(value as text) from value v join metric m on m.id=v.metric where m.name='bytes'"))
        self.assertEqual([(HUGE / 1e9,)], self.rows(path, "select value from value v join metric m on m.id=v.metric where m.name='gpu_time'"))

    def test_length_beyond_64_bits(self):
        x = make.Export()
        x.call('cudaLaunchKernel', 0, 10)
        x.kernel('k', -HUGE, HUGE)
        path = self.export(x)
        self.assertEqual(0, self.paths(path, 'gpu_time')['process 1000->thread 1->cudaLaunchKernel->GPU k'])
        self.assertIn('1 activity lasts for centuries', self.problems(path)['endless-duration'])

    def test_too_many_levels_are_told_once(self):
        x = make.Export()
        for i in range(1200):
            x.range('r', i, 9000 - i)
        path = self.export(x)
        self.assertFails(run('tree', path), 3, 'more than 1024 levels')
        result = run('validate', path)
        self.assertEqual(1, result.status)
        self.assertEqual(1, result.out.count('[too-deep]'))


if __name__ == '__main__':
    main()
