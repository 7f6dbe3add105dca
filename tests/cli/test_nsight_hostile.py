"""Exports of Nsight Systems that are cut, damaged, or have nonsense in their columns: an answer or one line of what is wrong, never a crash and never a wait."""
import os
import random
import sqlite3

import nsight_make as make
from common import Case, main, run

TOUCH = 'select count(*) from value; select count(*) from event; select count(*) from attribute; select sum(inclusive) from node'
ODD = ["'text'", "''", "x'00ff'", '1.5', '1e300', 'null', '-1', '9223372036854775807', '-9223372036854775808', '4294967295', '4294967296']
# All of them are read; what they hold is checked by the other tests.
TABLES = [make.RUNTIME, make.KERNEL, make.MEMCPY, make.MEMSET, make.SYNCHRONIZATION, make.GRAPH_TRACE, 'NVTX_EVENTS', 'OSRT_API', 'COMPOSITE_EVENTS', 'SAMPLING_CALLCHAINS', 'StringIds', 'TARGET_INFO_GPU',
          'EXPORT_META_DATA', 'ENUM_CUPTI_SYNC_TYPE', 'PROCESSES', 'ThreadNames', 'TARGET_INFO_CUDA_GPU', 'CUDA_CALLCHAINS']


def export(flavour=make.CURRENT, has_ranges=True):
    """A little of everything."""
    x = make.Export(flavour)
    if has_ranges:
        x.encoded(['main'], 0, 1000)
        x.encoded(['main', 'solve'], 100, 900)
        x.domain('lib')
        x.range('phase', 150, 300, domain=2)
        x.mark('here', 160)
    chain = x.chain(['main', 'solve'])
    x.call('cudaMalloc_v3020', 110, 120, chain=chain)
    x.launch('saxpy', (130, 150), (160, 260), grid=(4, 1, 1))
    x.launch('dot', (170, 180), (200, 300), stream=8)
    x.call('cudaMemcpyAsync_v3020', 200, 210)
    x.copy(make.TO_DEVICE, 220, 240, bytes=4096)
    x.call('cudaMemset_v3020', 310, 320)
    x.memset(0, 315, 330, bytes=64)
    x.call('cudaStreamSynchronize_v3020', 330, 400)
    x.sync(3, 331, 399)
    x.call('cudaGraphLaunch_v10000', 410, 420)
    x.graph(1, 430, 500)
    x.osrt('poll', 1, 90)
    x.sample(5, ['main', 'solve'])
    x.name_process(x.thread, 'app')
    x.name_thread(x.thread, 'worker')
    return x


class Hostile(Case):
    def check(self, path, what, *statuses):
        result = run('sql', '--json', path, TOUCH)
        self.assertIn(result.status, statuses or (0, 3), (what, result))
        if result.status:
            self.assertFails(result, 3)

    def small(self):
        """The bytes of one with many small pages."""
        export().write(self.path('a.sqlite'), page_size=512)
        return self.read('a.sqlite')

    def test_cut(self):
        data = self.small()
        sizes = {*range(0, len(data), 512), *range(0, 120, 7), *random.Random(1).sample(range(len(data)), 40), len(data) - 1}
        for size in sorted(sizes):
            self.check(self.write('cut.sqlite', data[:size]), size, 3)

    def test_changed_bytes(self):
        data = self.small()
        r = random.Random(2)
        places = [*range(0, 100), *r.sample(range(100, 1024), 80), *r.sample(range(1024, len(data)), 120)]
        for at in places:
            value = r.choice([0, 255, data[at] ^ 1, data[at] ^ 128])
            self.check(self.write('changed.sqlite', data[:at] + bytes([value]) + data[at + 1:]), (at, value))

    def test_pages_of_another_table(self):
        """B-trees that point into each other."""
        data = self.small()
        pages = len(data) // 512
        r = random.Random(3)
        for _ in range(60):
            a, b = r.randrange(1, pages), r.randrange(0, pages)
            self.check(self.write('mixed.sqlite', data[:a * 512] + data[b * 512:(b + 1) * 512] + data[(a + 1) * 512:]), (a, b))

    def test_rows_that_share_a_long_record(self):
        """500 rows of 300,000 bytes in a file that is hardly larger than one of them: each in turn would be put together again."""
        x = export()
        x.drop('OSRT_API')
        x.sql('create table OSRT_API (pad, start, end, globalTid, nameId, nestingLevel)')
        x.sql(f'insert into OSRT_API (rowid, pad, start, end, globalTid, nameId, nestingLevel) values (128, zeroblob(300000), 1, 2, {x.thread}, 1, 0)')
        path = x.write(self.path('shared.sqlite'), page_size=512)
        self.check(path, 'one row', 0)
        db = sqlite3.connect(path)
        root, = db.execute("select rootpage from sqlite_master where name = 'OSRT_API'").fetchone()
        db.close()
        data = bytearray(self.read('shared.sqlite'))
        page = (root - 1) * 512
        at = page + int.from_bytes(data[page + 8:page + 10], 'big')
        cell = bytes(data[at:page + 512])
        self.assertEqual((13, 1, b'\x81\x00'), (data[page], int.from_bytes(data[page + 3:page + 5], 'big'), cell[3:5]))    # a leaf, of one row, whose rowid is 128
        each, children, last = (512 - 8) // (len(cell) + 2), [], len(data) // 512
        for leaf in range(30):
            new, offsets = bytearray(512), []
            for i in range(each):
                rowid = 128 + leaf * each + i
                offsets.append(512 - (i + 1) * len(cell))
                new[offsets[-1]:offsets[-1] + len(cell)] = cell[:3] + bytes([0x80 | rowid >> 7, rowid & 127]) + cell[5:]
            new[:8] = bytes([13, 0, 0]) + each.to_bytes(2, 'big') + offsets[-1].to_bytes(2, 'big') + b'\0'
            new[8:8 + 2 * each] = b''.join(o.to_bytes(2, 'big') for o in offsets)
            data += new
            children.append((last + leaf + 1, rowid))
        inner = bytearray(512)
        inner[:12] = bytes([5, 0, 0]) + (len(children) - 1).to_bytes(2, 'big') + (512 - 6 * (len(children) - 1)).to_bytes(2, 'big') + b'\0' + children[-1][0].to_bytes(4, 'big')
        for i, (number, rowid) in enumerate(children[:-1]):
            offset = 512 - 6 * (i + 1)
            inner[12 + 2 * i:14 + 2 * i] = offset.to_bytes(2, 'big')
            inner[offset:offset + 6] = number.to_bytes(4, 'big') + bytes([0x80 | rowid >> 7, rowid & 127])
        data[page:page + 512] = inner
        data[28:32] = (len(data) // 512).to_bytes(4, 'big')
        self.check(self.write('shared.sqlite', data), 'many rows', 3)

    def test_wrong_values_in_every_column(self):
        for flavour, has_ranges in ((make.CURRENT, True), (make.OLD, False)):
            for table in TABLES:
                for column in export(flavour, has_ranges).table(table):
                    x = export(flavour, has_ranges)
                    x.sql(f'create table if not exists {table} ("{column}")')
                    for odd in ODD if (table, column) != ('StringIds', 'id') else []:
                        x.sql("insert into StringIds select max(id) + 1, 'more' from StringIds" if table == 'StringIds' else f'insert into {table} select * from {table} limit 1')
                        x.sql(f'update {table} set "{column}" = {odd} where rowid = (select max(rowid) from {table})')
                    if (table, column) == ('StringIds', 'id'):
                        x.sql('update StringIds set id = id + 9223372036854770000 where id > 3')
                    self.check(x.write(self.path('odd.sqlite')), (flavour, table, column), 0)
                    os.remove(self.path('odd.sqlite'))

    def test_missing_columns_and_tables(self):
        for table in TABLES:
            x = export()
            x.drop(table)
            self.check(x.write(self.path(f'no-{table}.sqlite')), table, 0)
            for column in x.table(table):
                y = export()
                if y.rows.get(table):
                    y.without(table, column)
                    self.check(y.write(self.path(f'no-{table}-{column}.sqlite')), (table, column), 0)

    def test_tables_that_are_none(self):
        for sql in ('create view {0} as select * from other', 'create view {0} as select * from {0}', 'create virtual table {0} using fts3(start)'):
            x = export()
            x.sql(f'alter table {make.KERNEL} rename to other')
            x.sql(sql.format(make.KERNEL))
            try:
                x.write(self.path('view.sqlite'))
            except sqlite3.OperationalError:  # this SQLite has no such tables
                continue
            self.check(self.path('view.sqlite'), sql)

    def test_schema_of_any_text(self):
        for text in ('create table x(', 'create table CUPTI_ACTIVITY_KIND_KERNEL(start, start)', "create table CUPTI_ACTIVITY_KIND_KERNEL(a as (b), b as (a))",
                     'create table CUPTI_ACTIVITY_KIND_KERNEL(start default (abs(-9223372036854775808)), end)', 'create trigger t after insert on x begin select 1; end', '', 'x' * 100000):
            x = export()
            x.sql('pragma writable_schema = on')
            x.sql(f"""update sqlite_master set sql = '{text.replace("'", "''")}' where name = '{make.KERNEL}'""")
            self.check(x.write(self.path(f'schema{len(text)}.sqlite')), text[:60])

    def test_a_million_kernels_that_all_overlap(self):
        x = export()
        x.sql(f"""insert into {make.KERNEL} (start, end, deviceId, contextId, streamId, correlationId, globalPid, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ)
                  with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000) select i, 3000000 - i, 0, 1, i % 16, i % 5, {make.global_pid(x.thread)}, 1, 1, 1, 1, 32, 1, 1 from n""")
        x.write(self.path('million.sqlite'))
        self.check(self.path('million.sqlite'), 'a million', 0)
        for verb in ('info', 'tree', 'stat'):
            self.assertEqual(0, run(verb, self.path('million.sqlite')).status)

    def test_a_million_streams_and_threads(self):
        x = export()
        x.sql(f"""insert into {make.KERNEL} (start, end, deviceId, contextId, streamId, correlationId, globalPid, shortName) with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
                  select i, i + 5, i % 300, i % 7, i * 77, 2, {make.global_pid(x.thread)} + (i % 50 << 24), 1 from n""")
        x.sql(f"""insert into {make.RUNTIME} (start, end, globalTid, correlationId, nameId) with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
                  select i, i + 5, i * 98765431, i, i % 9 from n""")
        self.check(x.write(self.path('places.sqlite')), 'places')

    def test_deep_nesting(self):
        for depth in (900, 3000, 100000):
            for table in ('plain', 'extra-prof', 'osrt'):
                x = make.Export()
                x.call('cudaFree_v3020', depth + 5, depth + 6)
                kind = make.PUSH_POP
                x.table('NVTX_EVENTS')
                if table == 'osrt':
                    x.table('OSRT_API')
                    x.sql(f'insert into OSRT_API (start, end, globalTid, nameId, nestingLevel) with recursive n(i) as (select 0 union all select i + 1 from n where i < {depth}) '
                          f'select i, {3 * depth} - i, {x.thread}, 1, i from n')
                elif table == 'plain':
                    x.sql(f"insert into NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) with recursive n(i) as (select 0 union all select i + 1 from n where i < {depth}) "
                          f"select i, {3 * depth} - i, {kind}, 'r' || i % 3, {x.thread}, 0 from n")
                else:
                    x.region('main' + '->f' * depth, 0, 3 * depth)
                self.check(x.write(self.path(f'{table}{depth}.sqlite')), (table, depth))

    def test_crossing_ranges(self):
        """Each ends while the next runs: a search of all that are open would be quadratic."""
        x = make.Export()
        x.table('NVTX_EVENTS')
        x.sql(f"insert into NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) with recursive n(i) as (select 0 union all select i + 1 from n where i < 200000) "
              f"select i, i + 200000, {make.PUSH_POP}, 'r' || i % 3, {x.thread}, 0 from n")
        x.table(make.RUNTIME)
        x.sql(f"insert into {make.RUNTIME} (start, end, globalTid, correlationId, nameId) with recursive n(i) as (select 0 union all select i + 1 from n where i < 200000) "
              f"select 2 * i, 2 * i + 150000, {x.thread}, i, 1 from n")
        self.check(x.write(self.path('crossing.sqlite')), 'crossing', 0)

    def test_huge_strings(self):
        x = export()
        x.kernel('k' * 5_000_000, 1, 2)
        x.range('->'.join(['r'] * 1000), 1, 2, domain=2)
        x.range('\n' * 100000, 3, 4, domain=2)
        x.kernel(make.RawText(b'\xff' * 100000), 1, 2)
        x.kernel(make.RawText(b'a\0b\x1b[31m'), 1, 2)
        self.check(x.write(self.path('strings.sqlite')), 'strings', 0)
        for verb in ('tree', 'info'):
            out = run(verb, self.path('strings.sqlite'))
            self.assertEqual(0, out.status)
            self.assertNotIn('\x1b', out.out)

    def test_one_correlation_for_all(self):
        x = export()
        for table, columns in ((make.RUNTIME, 'start, end, globalTid, correlationId, nameId'), (make.KERNEL, 'start, end, globalPid, correlationId, shortName'),
                               (make.MEMCPY, 'start, end, globalPid, correlationId, bytes'), (make.SYNCHRONIZATION, 'start, end, globalPid, correlationId, syncType')):
            x.sql(f'insert into {table} ({columns}) with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) select i, i + 10, {x.thread}, 2, 1 from n')
        self.check(x.write(self.path('many.sqlite')), 'many', 0)

    def test_names_of_chains_in_any_number(self):
        x = make.Export()
        x.call('cudaFree_v3020', 5, 6, chain=1)
        x.table('CUDA_CALLCHAINS')
        x.sql('insert into CUDA_CALLCHAINS (id, symbol, stackDepth) with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select 1, 1, i % 70000 from n')
        self.check(x.write(self.path('chain.sqlite')), 'chain')


if __name__ == '__main__':
    main()
