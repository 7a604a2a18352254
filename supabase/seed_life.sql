-- Activity of the people in seed.sql, so that no screen is empty. It is invented and the same in every run,
-- except for times and a few random numbers. The accounts in local/demo/accounts.json have most of it.
-- local/demo/files.ts creates their pictures and documents during `npm start`.

do $seed$
declare
  moment timestamptz := now();
  admin_id uuid;
  step record;
  invoice jsonb;
  payment_id uuid;
  charge_id text;
begin

create function pg_temp.chance(number integer, about text) returns double precision
  language sql immutable
  return ('x' || substr(md5(about || number), 1, 8))::bit(32)::bigint / 4294967296.0;

create function pg_temp.demo_id(name text) returns uuid
  language sql immutable
  return overlay(overlay(md5('demo ' || name) placing '4' from 13) placing '8' from 17)::uuid;

admin_id := pg_temp.demo_id('admin');
if not exists (select from public.accounts where id = admin_id)
  or exists (select from public.conversations) then
  raise notice 'Nothing was added to the demo world: it is not there, or has begun to live.';
  drop function pg_temp.chance, pg_temp.demo_id;
  return;
end if;

-- People by number, and advertisers. looked_through marks the demo accounts, which developers look at.
create temporary table demo_persons on commit drop as
select number, accounts.id as account_id, pg_temp.demo_id('individual ' || number) as identity_id
from generate_series(1, 60) as number
join public.accounts on accounts.id = pg_temp.demo_id('person ' || number);

create temporary table demo_owners on commit drop as
select
  identities.id as identity_id, identities.account_id, identities.type, persons.number,
  persons.number in (1, 10, 21, 22) as looked_through
from public.identities
join demo_persons as persons on persons.account_id = identities.account_id
where identities.status = 'active' and exists (
  select from public.properties
  where properties.owner_identity_id = identities.id and properties.listed
);

-- Every person asks about one listing; a demo account asks about six, and is asked about five of its own.
create temporary table demo_talks on commit drop as
select
  row_number() over (order by md5(asker.identity_id || '' || properties.id))::integer as number,
  asker.account_id as asker_account_id, asker.identity_id as asker_id,
  owner.account_id as owner_account_id, owner.identity_id as owner_id,
  properties.id as property_id
from (
  select persons.number as asker, chosen.id
  from demo_persons as persons
  cross join lateral (
    select properties.id from public.properties
    join demo_owners as owner on owner.identity_id = properties.owner_identity_id
    where properties.listed and owner.account_id <> persons.account_id
    order by md5(persons.number || ' asks ' || properties.id)
    limit case when persons.number in (1, 10, 21, 22) then 6 else 1 end
  ) as chosen
  union
  select 23 + nth * 5 % 36, chosen.id
  from demo_owners as owner
  cross join lateral (
    select properties.id, row_number() over (order by md5('asked ' || properties.id)) as nth
    from public.properties
    where properties.listed and properties.owner_identity_id = owner.identity_id
    order by nth
    limit 5
  ) as chosen
  where owner.looked_through
) as pairs (asker, property_id)
join demo_persons as asker on asker.number = pairs.asker
join public.properties on properties.id = pairs.property_id
join demo_owners as owner on owner.identity_id = properties.owner_identity_id;

-- a is the person who asks, o the owner. {at} stands for the shown location of the listing, {other} for
-- another listing of the owner.
create temporary table demo_lines on commit drop as
select script, nth::integer as seq, left(line, 1) = 'a' as by_asker, substr(line, 3) as body
from (values
  (0, array[
    'a السلام عليكم، هل العقار ما زال متاحاً؟', 'o وعليكم السلام، نعم متاح.',
    'a هل يمكن معاينته غداً بعد العصر؟', 'o أهلاً بك، الساعة الخامسة تناسبنا.', 'o {at}',
    'a وصلني الموقع، أشكرك.']),
  (1, array[
    'a مساء الخير، هل السعر قابل للتفاوض؟', 'o مساء النور، يوجد مجال بسيط للجاد.',
    'a كم آخر سعر من فضلك؟', 'o شرفنا بالمعاينة أولاً ونتفق إن شاء الله.']),
  (2, array[
    'a مرحباً، هل الأوراق جاهزة؟', 'o أهلاً، نعم جاهزة بالكامل.', 'o ولدينا عرض آخر قد يناسبك:',
    'o {other}']),
  (3, array[
    'a السلام عليكم، أرغب بمزيد من التفاصيل والصور من فضلك.']),
  (4, array[
    'a متى يمكن الاستلام؟', 'o من بداية الشهر القادم.', 'a ممتاز، سأتواصل معكم يوم الأحد.',
    'o بانتظارك، حياك الله.', 'a هل تفضلون الاتصال أم الكتابة هنا؟'])
) as scripts (script, lines), unnest(lines) with ordinality as each (line, nth);

insert into public.conversations (id, pair_key, property_id, last_seq, opened_by, created_at)
select
  pg_temp.demo_id('conversation ' || number),
  least(asker_id, owner_id) || ' ' || greatest(asker_id, owner_id) || ' ' || property_id,
  property_id, 0, asker_account_id,
  moment - interval '9 days' * power(pg_temp.chance(number, 'talk'), 2) - interval '3 hours'
from demo_talks;

insert into public.participants
  (conversation_id, identity_id, account_id, active_at, changed_at)
select conversations.id, side.identity_id, side.account_id, created_at, created_at
from demo_talks
join public.conversations on conversations.id = pg_temp.demo_id('conversation ' || number)
cross join lateral (values (asker_id, asker_account_id), (owner_id, owner_account_id))
  as side (identity_id, account_id);

insert into public.messages
  (id, conversation_id, sender_identity_id, seq, client_message_id, type, body, created_at)
select
  pg_temp.demo_id('message ' || demo_talks.number || ' ' || numbered.seq), conversations.id,
  case when by_asker then asker_id else owner_id end, numbered.seq, 'demo-' || numbered.seq,
  case body when '{at}' then 'location' when '{other}' then 'property' else 'text' end,
  case body
    when '{at}' then shown_lat || ',' || shown_lng
    when '{other}' then (
      select other.id::text from public.properties as other
      where other.owner_identity_id = owner_id and other.listed
      order by other.id = demo_talks.property_id, other.id limit 1)
    else body end,
  conversations.created_at + interval '25 minutes' * (numbered.seq - 1)
from demo_talks
join public.conversations on conversations.id = pg_temp.demo_id('conversation ' || number)
join public.properties on properties.id = demo_talks.property_id
cross join lateral (
  select by_asker, body, row_number() over (order by demo_lines.seq) as seq from demo_lines
  where script = demo_talks.number % 5 and (body <> '{at}' or shown_lat is not null)
) as numbered;

-- Conversations older than two days are fully read by both sides; in newer ones, each side has read up to
-- its own last message.
update public.conversations set last_seq = ends.last_seq
from (select conversation_id, max(seq) as last_seq from public.messages group by 1) as ends
where ends.conversation_id = conversations.id;
update public.participants
set last_read_seq = read.up_to, unread = read.unread, active_at = read.last_at,
    changed_at = read.last_at
from (
  select
    side.conversation_id, side.identity_id, max(messages.created_at) as last_at,
    case when max(messages.created_at) < moment - interval '2 days' then max(seq)
      else coalesce(max(seq) filter (where messages.sender_identity_id = side.identity_id), 0)
    end as up_to,
    case when max(messages.created_at) < moment - interval '2 days' then 0
      else count(*) filter (where messages.seq > coalesce((
        select max(own.seq) from public.messages as own
        where own.conversation_id = side.conversation_id
          and own.sender_identity_id = side.identity_id), 0))
    end as unread
  from public.participants as side
  join public.messages on messages.conversation_id = side.conversation_id
  group by 1, 2
) as read
where read.conversation_id = participants.conversation_id
  and read.identity_id = participants.identity_id;
-- The demo accounts have archived their oldest conversation and muted the next one.
update public.participants
set archived = aged.nth = 1, muted = aged.nth = 2, changed_at = moment - interval '1 day'
from (
  select conversation_id, identity_id,
    row_number() over (partition by identity_id order by active_at) as nth
  from public.participants
  where identity_id in (select identity_id from demo_persons where number in (1, 10, 21, 22))
) as aged
where aged.conversation_id = participants.conversation_id
  and aged.identity_id = participants.identity_id and aged.nth <= 2 and participants.unread = 0;

insert into public.leads (id, property_id, owner_identity_id, identity_id, kind, created_at, day)
select
  pg_temp.demo_id('lead ' || number), demo_talks.property_id, owner_id, asker_id,
  (array['chat', 'call', 'whatsapp'])[1 + number % 3], conversations.created_at,
  (conversations.created_at at time zone 'Asia/Kuwait')::date
from demo_talks
join public.conversations on conversations.id = pg_temp.demo_id('conversation ' || number)
where number % 3 > 0; -- the first message of a conversation creates the chat lead

-- Listings of the demo accounts have had views for 60 days.
insert into private.property_days as days (property_id, day, views)
select properties.id, shown.day,
  1 + floor(12 * power(pg_temp.chance(nth, 'views of ' || properties.id), 3)
    * case when extract(isodow from shown.day) in (4, 5) then 2 else 1 end)
from demo_owners as owner
join public.properties
  on properties.owner_identity_id = owner.identity_id and properties.published_at is not null
cross join generate_series(0, 59) as nth
cross join lateral (
  select ((moment at time zone 'Asia/Kuwait') - nth * interval '1 day')::date as day
) as shown
where owner.looked_through and shown.day > properties.published_at
  and pg_temp.chance(nth, 'day of ' || properties.id) < 0.8
on conflict on constraint property_days_pkey do update set views = excluded.views;

-- The demo accounts also saved one listing that was sold or rented, and two whose price fell later.
insert into public.favorites (identity_id, property_id, created_at)
select persons.identity_id, gone.id, gone.published_at + interval '1 hour'
from demo_persons as persons
cross join lateral (
  select properties.id, properties.published_at from public.properties
  join public.identities on identities.id = properties.owner_identity_id
  where properties.status in ('sold', 'rented') and identities.account_id <> persons.account_id
  order by md5(persons.number || ' missed ' || properties.id)
  limit 1
) as gone
where persons.number in (1, 10, 21, 22)
union all
select persons.identity_id, cheaper.id, cheaper.published_at + interval '1 minute'
from demo_persons as persons
cross join lateral (
  select properties.id, properties.published_at from public.properties
  join public.identities on identities.id = properties.owner_identity_id
  where properties.drop_pct is not null and properties.listed
    and identities.account_id <> persons.account_id
  order by md5(persons.number || ' waits ' || properties.id)
  limit 2
) as cheaper
where persons.number in (1, 10, 21, 22)
on conflict do nothing;

insert into public.blocks (account_id, identity_id, blocked_account_id, created_at)
select blocker.account_id, blocked.identity_id, blocked.account_id, moment - interval '4 days'
from demo_persons as blocker
join demo_persons as blocked on blocked.number = case blocker.number when 21 then 59 else 60 end
where blocker.number in (1, 10, 21, 22);

create temporary table demo_reviews on commit drop as
select
  row_number() over (order by owner.identity_id, author.number)::integer as number,
  author.account_id as author_account_id, author.identity_id as author_id,
  owner.identity_id as subject_id, owner.account_id as subject_account_id, said.*,
  moment - interval '40 days' * pg_temp.chance(author.number, owner.identity_id::text)
    - interval '3 days' as at
from demo_owners as owner
cross join lateral (
  select persons.*, row_number() over (order by md5(persons.number || owner.identity_id::text)) as nth
  from demo_persons as persons
  where persons.account_id <> owner.account_id
    and persons.number % 2 = 1 -- people with a phone, because only proven accounts can write reviews
    and (not owner.looked_through or persons.number not in (1, 10, 21, 22))
) as author
join (values
  (1, 5, 'تعامل راقٍ وسرعة في الرد، والعقار كما في الإعلان.', 'نشكرك على ثقتك، ونتشرف بخدمتك دائماً.'),
  (2, 4, 'المعاينة كانت في موعدها، والشرح واضح.', null),
  (3, 5, 'صادقون في المعلومات ومتعاونون حتى توقيع العقد.', 'كلامك وسام لنا، بالتوفيق في بيتك الجديد.'),
  (4, 3, 'الخدمة جيدة، لكن الرد تأخر يومين.', 'نعتذر عن التأخير، وقد زدنا فريق خدمة العملاء.'),
  (5, 4, null, null),
  (6, 2, 'السعر تغير بعد الاتفاق.', null)
) as said (nth, rating, comment, reply) using (nth)
where owner.type <> 'individual' and nth <= 3 + owner.number % 4
  or owner.looked_through and nth <= 2;

insert into public.leads (id, property_id, owner_identity_id, identity_id, kind, created_at, day)
select
  pg_temp.demo_id('lead of review ' || demo_reviews.number), about.id, subject_id, author_id, 'call',
  at - interval '2 days', ((at - interval '2 days') at time zone 'Asia/Kuwait')::date
from demo_reviews
cross join lateral (
  select properties.id from public.properties
  where properties.owner_identity_id = subject_id and properties.listed
  order by properties.id limit 1
) as about
on conflict do nothing;

insert into public.reviews (
  id, author_identity_id, subject_identity_id, rating, comment, reply, created_at, replied_at
)
select
  pg_temp.demo_id('review ' || number), author_id, subject_id, rating, comment, reply, at,
  case when reply is not null then at + interval '5 hours' end
from demo_reviews;

insert into public.reports
  (id, account_id, identity_id, target_type, target_id, reason, note, created_at,
   reported_identity_id, stored_content, content_hash)
select
  pg_temp.demo_id('report ' || persons.number), persons.account_id, persons.identity_id,
  reported.target_type, reported.target_id, reported.reason, reported.note,
  moment - interval '7 hours' * (persons.number - 20), about.reported_identity_id, seen.stored_content,
  encode(sha256(convert_to(seen.stored_content::text, 'utf8')), 'hex')
from (
  select 31 as number, 'property' as target_type, (
    select id from public.properties where listed and type = 'SALE' order by md5('a' || id) limit 1
  ) as target_id, 'other' as reason, 'المساحة في الإعلان أكبر من الحقيقة.' as note
  union all
  select 32, 'property', (
    select id from public.properties where listed and type = 'RENT' order by md5('b' || id) limit 1
  ), 'not_available', 'اتصلت بالمعلن فقال إنه مؤجر منذ شهر.'
  union all
  select 33, 'review', (
    select id from public.reviews where rating = 2 order by id limit 1
  ), 'offensive', null
  union all
  select 34, 'identity', pg_temp.demo_id('individual 58'), 'fraud', 'يطلب عربوناً قبل المعاينة.'
) as reported
join demo_persons as persons using (number)
cross join lateral (
  select reported.target_type, reported.target_id, case reported.target_type
    when 'property' then (
      select owner_identity_id from public.properties where properties.id = reported.target_id)
    when 'review' then (
      select author_identity_id from public.reviews where reviews.id = reported.target_id)
    else reported.target_id end as reported_identity_id
) as about
cross join lateral (
  select private.reported_content(
    jsonb_populate_record(null::public.reports, to_jsonb(about))) as stored_content
) as seen;

-- Calls the same functions as a real payment, on behalf of each payer. A company pays as its own identity.
for step in
  select persons.account_id, paid.*,
    pg_temp.demo_id('session ' || persons.number || ' ' || paid.nth) as session_id
  from (values
    (21, 1, 'individual 21', 20, 'paid'), (21, 2, 'individual 21', 10, 'failed'),
    (22, 1, 'individual 22', 50, 'paid'), (10, 1, 'organisation 10', 100, 'paid'),
    (1, 1, 'individual 1', 15, 'paid'), (1, 2, 'organisation 1', 250, 'paid'),
    (1, 3, 'organisation 1', 75, 'open'), (10, 2, 'individual 10', 5, 'paid')
  ) as paid (number, nth, payer, amount, outcome)
  join demo_persons as persons using (number)
  order by paid.number, paid.nth
loop
  insert into auth.sessions (id, user_id, created_at, updated_at)
  values (step.session_id, step.account_id, moment, moment);
  update public.accounts set active_identity_id = pg_temp.demo_id(step.payer)
  where accounts.id = step.account_id;
  perform set_config('request.jwt.claims',
    jsonb_build_object('sub', step.account_id, 'session_id', step.session_id)::text, true);
  invoice := api.top_up_wallet(step.amount);
  if step.outcome <> 'open' then
    perform private.set_provider('sandbox', 'test');
    perform private.charge_invoice((invoice ->> 'id')::uuid, 'http://127.0.0.1/');
    select payments.id into payment_id from public.payments
    where payments.invoice_id = (invoice ->> 'id')::uuid;
    charge_id := private.sandbox_charge(
      payment_id::text, step.amount, 'KWD', invoice ->> 'number', 'http://127.0.0.1/');
    perform private.charge_started(payment_id, charge_id, 'http://127.0.0.1/');
    perform private.receive_payment('sandbox', 'demo ' || charge_id, 'payment', null,
      step.amount::text, private.sandbox_decide(charge_id, step.outcome)::jsonb, 'KWD');
  end if;
  perform set_config('request.jwt.claims', '', true);
  update public.accounts
  set active_identity_id = pg_temp.demo_id('individual ' || step.number)
  where accounts.id = step.account_id;
  delete from auth.sessions where sessions.id = step.session_id;
end loop;

-- These listings wait for review, as all new ones do while the setting review_listings is true.
update public.properties
set status = 'pending_review', published_at = null, confirmed_at = null, expires_at = null
where properties.id in (
  select id from public.properties where status = 'draft' order by id limit 4
);

insert into public.audit
  (at, actor_id, actor_role, action, target_type, target_id, reason, before, after)
select
  identities.created_at + interval '1 day', admin_id, 'facade', 'identity.status', 'identity', identities.id,
  'الترخيص ساري', '{"status": "pending_verification"}', '{"status": "active"}'
from public.identities
where identities.type <> 'individual' and identities.status = 'active'
order by identities.created_at;

-- Area prices of the last two years, for areas that have enough listings now for a median.
insert into private.area_price_history
  (month, area_id, type, kind, listings, median_price, median_price_per_m2)
select
  date_trunc('month', moment at time zone 'Asia/Kuwait') - ago * interval '1 month',
  figures.area_id, figures.type, figures.kind, figures.listings,
  round(figures.median_price * drawn.level, 3), round(figures.median_price_per_m2 * drawn.level, 3)
from private.area_figures(null, true) as figures
cross join generate_series(1, 23) as ago
cross join lateral (
  select 0.99 + 0.02 * pg_temp.chance(ago, figures.area_id || figures.kind)::numeric - 0.004 * ago
) as drawn (level)
where figures.median_price is not null;

-- An administrator's note about a reported person.
insert into public.notes (id, account_id, target_type, target_id, by_id, body, created_at)
select pg_temp.demo_id('note'), identities.account_id, 'report', reports.id,
  pg_temp.demo_id('admin'), 'اتصلت به، وسيرسل صورة الرخصة غداً', moment - interval '2 hours'
from public.reports
join public.identities on identities.id = reports.reported_identity_id
order by reports.created_at desc, reports.id
limit 1;

-- Triggers have just created these notifications. Give them the time of their event.
update public.notifications set created_at = happened.at
from (select property_id, max(created_at) as at from public.leads group by 1) as happened
where notifications.kind = 'lead_new' and notifications.entity_id = happened.property_id;

for step in
  select account_id, identity_id, kind, entity_id, details || jsonb_build_object('at', at) as details,
    texts
  from (
    select reader.account_id, reader.identity_id, 'message_new' as kind,
      reader.conversation_id as entity_id, messages.created_at as at,
      jsonb_build_object('from', messages.sender_identity_id, 'seq', messages.seq) as details,
      said.texts
    from public.participants as reader
    cross join lateral private.unread_messages(reader.conversation_id, reader.identity_id) as said
    join public.messages on messages.conversation_id = reader.conversation_id
      and messages.seq = said.last_seq
    where not reader.muted and not reader.archived
    union all
    select subject_account_id, subject_id, 'review_new', pg_temp.demo_id('review ' || demo_reviews.number),
      at, jsonb_build_object('from', author_id, 'name', display_name, 'rating', rating), null
    from demo_reviews join public.identities on identities.id = author_id
    union all
    select persons.account_id, persons.identity_id, 'favorite_price_drop', properties.id,
      changed.changed_at, jsonb_build_object('titleAr', title_ar, 'titleEn', title_en,
        'type', type, 'before', changed.before, 'price', properties.price), null
    from demo_persons as persons
    join public.favorites using (identity_id)
    join public.properties on properties.id = favorites.property_id
    join lateral (
      select
        price_history.changed_at, lag(price_history.price) over (order by changed_at) as before
      from public.price_history where price_history.property_id = properties.id
      order by changed_at desc limit 1
    ) as changed
      on changed.before > properties.price and favorites.created_at < changed.changed_at
    union all
    select persons.account_id, persons.identity_id, 'favorite_unavailable', properties.id,
      properties.closed_at, jsonb_build_object('titleAr', title_ar, 'titleEn', title_en,
        'status', properties.status), null
    from demo_persons as persons
    join public.favorites on favorites.identity_id = persons.identity_id
    join public.properties on properties.id = favorites.property_id
    where properties.status in ('sold', 'rented')
    union all
    select identities.account_id, identities.id, 'identity_verified', identities.id,
      identities.created_at + interval '1 day', jsonb_build_object('name', display_name), null
    from public.identities
    where identities.type <> 'individual' and identities.status = 'active'
      and identities.created_at > moment - interval '170 days'
  ) as happened
  order by at
loop
  perform private.make_notification(
    step.account_id, step.identity_id, step.kind, step.entity_id, step.details, false, step.texts);
end loop;
-- Notifications older than three days are read.
update public.notifications set read_at = created_at + interval '6 hours'
where created_at < moment - interval '3 days' and kind <> 'message_new';

drop function pg_temp.chance, pg_temp.demo_id;

end
$seed$;
