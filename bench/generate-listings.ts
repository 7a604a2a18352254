/**
 * Generates any number of realistic listings, a million within minutes: for all areas, kinds and types, with
 * plausible prices, and texts of common and rare words. Rows are written in order of publication.
 *
 * For scratch databases only: it disables the triggers and itself writes the rows that they would write, over
 * one connection per core. Indexes are built afterwards.
 */
import { availableParallelism } from 'node:os'
import type pg from 'pg'
import { connected } from '../local/schema/build.ts'

const chunkSize = 10_000

/** Loads the listings. Without `records`, none are stored: each is built when it is requested. */
export async function loadListings(
  url: string,
  count: number,
  { records = true } = {},
): Promise<void> {
  await connected(url, async (client) => {
    await client.query(
      `set statement_timeout = 0; set maintenance_work_mem = '1GB'; set edits.by = 'bench'`,
    )
    await client.query(owners, [Math.max(40, Math.ceil(count / 25))])
    await client.query(organisations)
    const definitions = (await dropIndexes(client)).values()
    await client.query(`alter table public.properties disable trigger user;
      alter table public.properties enable trigger properties_show_their_place_on_insert`)
    const now = new Date()
    const chunks = Array.from({ length: Math.ceil(count / chunkSize) }, (_, i) => i).values()
    await inParallel(url, async (client) => {
      await client.query(materials)
      for (const i of chunks) await loadChunk(client, { i, count, now, records })
    })
    await client.query('alter table public.properties enable trigger user')
    await client.query(`select setval('private.property_ref_no', 100000 + $1::bigint)`, [count])
    await inParallel(url, async (client) => {
      for (const definition of definitions) await client.query(definition)
    })
    await client.query('truncate private.search_vocabulary, private.search_word_changes')
    await client.query('select private.recount_search_words()')
    // Only our own tables: vacuum skips tables of other owners and prints a warning for each.
    const { rows: [{ ours }] } = await client.query(
      `select string_agg(oid::regclass::text, ', ') as ours from pg_class
       where relkind = 'r' and relowner = current_user::regrole`,
    )
    await client.query(`vacuum (analyze) ${ours}`)
  })
}

async function inParallel(url: string, work: (client: pg.Client) => Promise<void>) {
  const clients = Array.from(
    { length: availableParallelism() },
    () =>
      connected(url, async (client) => {
        await client.query(
          `set statement_timeout = 0; set maintenance_work_mem = '1GB'; set edits.by = 'bench'`,
        )
        await work(client)
      }),
  )
  await Promise.all(clients)
}

type Chunk = { i: number; count: number; now: Date; records: boolean }

/** Writes a chunk of listings. Number 1 is the oldest. */
async function loadChunk(client: pg.Client, { i, count, now, records }: Chunk) {
  const [first, last] = [i * chunkSize + 1, Math.min((i + 1) * chunkSize, count)]
  await client.query('select setseed(1.0 / (1 + $1::integer))', [i])
  await client.query(listings, [first, last, count, now])
  for (const [table, rule] of derived) {
    if (table === 'private.listed_records' && !records) continue
    await client.query(
      `insert into ${table} select made.* from public.properties cross join lateral ${rule} as made
       where properties.ref_no between 100000 + $1::bigint and 100000 + $2::bigint`,
      [first, last],
    )
  }
  await client.query(publications, [first, last])
}

const derived = [
  ['private.search_documents', 'private.search_document(properties)'],
  ['private.property_cards', 'private.property_card(properties)'],
  ['private.listed_records', 'private.listed_record(properties)'],
]

/** Drops indexes and returns their definitions: building them after the rows exist is five times as fast. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition
     from pg_index
     where indrelid in (
       'public.properties'::regclass, 'private.search_documents'::regclass,
       'private.publications'::regclass
     ) and not indisunique
     order by pg_get_indexdef(indexrelid) ~ 'btree'`, // indexes that take longest to build come first
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  return rows.map(({ definition }) => definition)
}

const owners = `
  insert into auth.users (
    id, instance_id, aud, role, phone, raw_app_meta_data, raw_user_meta_data, created_at, updated_at,
    encrypted_password
  )
  select
    gen_random_uuid(), '00000000-0000-0000-0000-000000000000', 'authenticated', 'authenticated',
    '9655' || lpad(n::text, 7, '0'), '{}', jsonb_build_object('full_name',
      (array['أحمد', 'فهد', 'سالم', 'نورة', 'مريم', 'دلال', 'بدر', 'عبدالله'])[1 + n % 8] || ' ' ||
      (array['العنزي', 'المطيري', 'الرشيدي', 'العجمي', 'الكندري', 'الشمري'])[1 + n % 6]),
    now(), now(), ''
  from generate_series(1, $1::integer) as n`

// One owner in six has a company or an office. Companies and offices own most of the listings.
const organisations = `
  with chosen as (
    select
      accounts.id as account_id,
      row_number() over (order by accounts.phone) as n
    from public.accounts
  ), made as (
    insert into public.identities (account_id, type, status, display_name)
    select account_id, case when n % 12 = 0 then 'company' else 'office' end, 'active',
      'مؤسسة رقم ' || n || ' العقارية'
    from chosen where n % 6 = 0
    returning id, display_name
  )
  insert into public.organisations (
    identity_id, name_ar, slug, licence_no, licence_expires_on, verified
  )
  select id, display_name, 'org-' || id, upper(left(id::text, 13)), current_date + 300,
    row_number() over (order by id) % 8 <> 0
  from made`

const publications = `
  with made as (
    insert into private.publications (property_id, type, published_at, since)
    select id, type, published_at, published_at from public.properties
    where ref_no between 100000 + $1::bigint and 100000 + $2::bigint
    returning property_id, published_at
  )
  insert into private.listing_places (property_id, sorted_at) select property_id, published_at from made`

// Temporary tables with the values from which each chunk is generated.
const materials = `
create temporary table owners as
  select
    identities.id, identities.type, coalesce(organisations.verified, false) as verified,
    row_number() over (order by identities.type <> 'individual', identities.id) as n
  from public.identities
  left join public.organisations on organisations.identity_id = identities.id
;
create temporary table places as
  select areas.*, row_number() over (order by md5(areas.id)) as n
  from public.areas
;
create temporary table kinds as
  select kind.*, sum(frequency) over (order by frequency desc, code) as up_to
  from (values
    ('apartment', 'شقة', 'residential_private', 300, 110000, 450, 110),
    ('house', 'بيت', 'residential_private', 140, 320000, 900, 400),
    ('villa', 'فيلا', 'residential_private', 110, 520000, 1600, 500),
    ('floor', 'دور', 'residential_private', 90, 200000, 550, 300),
    ('land', 'أرض', 'residential_private', 80, 280000, 700, 500),
    ('residential_plot', 'قسيمة سكنية', 'residential_private', 50, 260000, 600, 400),
    ('gov_house', 'بيت حكومي', 'residential_private', 40, 220000, 600, 400),
    ('chalet', 'شاليه', 'coastal', 30, 240000, 900, 600),
    ('office', 'مكتب', 'commercial', 30, 90000, 600, 90),
    ('shop', 'محل', 'commercial', 25, 120000, 800, 60),
    ('building', 'عمارة', 'investment', 20, 1200000, 6000, 750),
    ('investment_building', 'عمارة استثمارية', 'investment', 15, 1700000, 9000, 1000),
    ('studio', 'استوديو', 'investment', 12, 60000, 250, 45),
    ('annex', 'ملحق', 'residential_private', 10, 70000, 280, 60),
    ('farm', 'مزرعة', 'agricultural', 9, 350000, 900, 50000),
    ('stable', 'جاخور', 'agricultural', 8, 60000, 300, 2500),
    ('istiraha', 'استراحة', 'agricultural', 7, 90000, 350, 1000),
    ('warehouse', 'مخزن', 'industrial', 6, 260000, 1500, 1000),
    ('commercial_complex', 'مجمع تجاري', 'commercial', 5, 4000000, 20000, 3000),
    ('industrial_plot', 'قسيمة صناعية', 'industrial', 4, 450000, 2500, 2000),
    ('showroom', 'معرض', 'commercial', 3, 300000, 2500, 300),
    ('basement', 'سرداب', 'commercial', 3, 80000, 400, 200),
    ('camp', 'مخيم', 'coastal', 2, 20000, 250, 1000),
    ('parking', 'موقف', 'commercial', 1, 8000, 25, 15)
  ) as kind (code, name, usage, frequency, sale, rent, size);
analyze owners, places, kinds`

const beginnings =
  `(array['مح', 'سل', 'نو', 'را', 'قب', 'عط', 'دي', 'شم', 'فك', 'جر', 'هن', 'ضل', 'ثق', 'زم',
  'خص', 'غب', 'طر', 'ذك', 'بي', 'حص'])`

const listings = `
with drawn as materialized (
  select
    n,
    case when random() < 0.48 then 'SALE' when random() < 0.85 then 'RENT' else 'EXCHANGE' end as type,
    random() * 999 as kind_at,
    1 + floor(power(random(), 1.6) * (select count(*) from places)) as place_n,
    1 + floor(power(random(), 0.6) * (select count(*) from owners)) as owner_n,
    0.5 + power(random(), 2) * 1.5 as worth,
    random() as chance,
    random() as other,
    (random() * 6)::integer as rooms
  from generate_series($1::integer, $2::integer) as n
)
insert into public.properties (
  ref_no, owner_identity_id, owner_type, owner_verified, owner_active, listed, status, type, kind,
  usage, title_ar, title_en, description_ar, price, land_area_m2, bedrooms, bathrooms, furnished, is_direct,
  governorate_id, area_id, lat, lng, location_precision, request_year, required_year, created_at,
  published_at, expires_at, auction_starts_at, auction_ends_at, drop_pct, drop_until
)
select
  100000 + drawn.n, owners.id, owners.type, owners.verified, true, true, 'active', drawn.type,
  kinds.code, kinds.usage,
  concat_ws(' ', kinds.name,
    case drawn.type when 'SALE' then 'للبيع' when 'RENT' then 'للإيجار' else 'للبدل' end,
    'في ' || places.name_ar,
    (array['موقع مميز', 'سعر مناسب', 'تشطيب فاخر', 'على شارع رئيسي', null])[1 + (drawn.n * 7) % 5]),
  case when drawn.n % 5 = 0 then initcap(replace(kinds.code, '_', ' ')) || ' in ' || places.name_en end,
  concat_ws(' ',
    (array['موقع ممتاز قريب من المدارس والخدمات والجمعية', 'تشطيب سوبر ديلوكس وتكييف مركزي',
      'مواقف خاصة ومصعد وحارس وكاميرات مراقبة', 'بطن وظهر على شارع داخلي هادئ',
      'يوجد غرفة خادمة وغرفة سائق وديوانية'])[1 + (drawn.other * 4)::integer],
    (array['السعر قابل للتفاوض', 'للجادين فقط', 'بدون وسيط', 'التواصل عبر الواتساب', 'المعاينة بموعد',
      'الصور حقيقية من العقار'])[1 + (drawn.chance * 5)::integer],
    (
      -- Twenty words of forty thousand, of which many listings have a few, and one word that only twelve
      -- listings have, so that the number of different words grows with the listings.
      select string_agg(
        ${beginnings}[1 + word % 20] ||
        (array['ار', 'يم', 'ود', 'ين', 'اس', 'وك', 'ات', 'يل', 'ون', 'اف', 'يب', 'وت', 'ال', 'ير',
          'وم', 'اق', 'يد', 'وج', 'اع', 'يش'])[1 + word / 20 % 20] ||
        coalesce((array['ه', 'ي', 'ان', 'ية', 'وة', 'تان', 'نا', 'كم', 'هم', 'ها'])[word / 400 % 11], '')
        || coalesce((array['ب', 'ج', 'د', 'س', 'ق', 'ل', 'م', 'ن', 'و'])[word / 4400 % 10], '')
        || coalesce(${beginnings}[word / 44000], ''), ' ')
      from (
        select floor(power(random(), 4) * 40000)::integer as word
        from generate_series(1, 20 + 0 * drawn.n)
        union all
        select 44000 + drawn.n % greatest($3::integer / 12, 1)
      ) as words
    )),
  case drawn.type
    when 'SALE' then round((kinds.sale * drawn.worth)::numeric, -3)
    when 'RENT' then round((kinds.rent * drawn.worth)::numeric / 5) * 5
    else case when drawn.chance < 0.4 then round((kinds.sale * drawn.worth)::numeric, -3) end
  end,
  greatest(round((kinds.size * (0.6 + drawn.chance))::numeric), 10),
  drawn.rooms, greatest(drawn.rooms - 1, 0),
  (array['none', 'none', 'partial', 'full'])[1 + (drawn.other * 3)::integer],
  owners.type = 'individual' and drawn.chance < 0.6,
  places.governorate_id, places.id,
  coalesce(places.lat, 29.3) + (drawn.chance - 0.5) * 0.03,
  coalesce(places.lng, 47.9) + (drawn.other - 0.5) * 0.03,
  (array['exact', 'block', 'block', 'area'])[1 + drawn.n % 4],
  case when drawn.type = 'EXCHANGE' then 1980 + drawn.n % 45 end,
  case when drawn.type = 'EXCHANGE' then 1990 + drawn.n % 35 end,
  age.published_at, age.published_at, now() + interval '30 days',
  case when drawn.type = 'SALE' and drawn.n % 25 = 0 then now() - interval '1 day' end,
  case when drawn.type = 'SALE' and drawn.n % 25 = 0 then now() + drawn.chance * interval '20 days' end,
  case when drawn.type <> 'EXCHANGE' and drawn.n % 40 = 0 then round((5 + drawn.other * 25)::numeric, 2) end,
  case when drawn.type <> 'EXCHANGE' and drawn.n % 40 = 0 then now() + interval '10 days' end
from drawn
join owners on owners.n = drawn.owner_n
join places on places.n = drawn.place_n
join kinds on drawn.kind_at >= kinds.up_to - kinds.frequency and drawn.kind_at < kinds.up_to
cross join lateral (
  select $4::timestamptz - interval '120 days' * (1 - (drawn.n - 1)::double precision / $3::integer)
    as published_at
) as age
order by age.published_at`
