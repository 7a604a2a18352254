// Values cached for faster reads must equal freshly calculated values (cases, I-08, I-11, PR-18).
import { type Invariant, unguarded } from './invariant.ts'

export const cachedValues: Invariant[] = [
  {
    id: 'I-08',
    says: 'a listing is saved as often as it says',
    sql: `select property_id as bad, saved.favorites, counters.favorites
        from (
          select property_id, count(*) as favorites from public.favorites where counted group by 1
        ) as saved
        full join private.property_counters as counters using (property_id)
        where coalesce(saved.favorites, 0) <> coalesce(counters.favorites, 0)`,
    plant: `insert into private.property_counters (property_id, favorites)
      select id, 1 from public.properties
      on conflict (property_id) do update set favorites = property_counters.favorites + 1`,
  },
  {
    id: 'I-08',
    says: 'a favorite is counted where its saver may act',
    // Ignores suspensions that have just ended, which a job lifts.
    sql: `select identity_id as bad, property_id
        from public.favorites
        join public.identities on identities.id = identity_id
        join public.accounts on accounts.id = account_id
        where counted <> (identities.status = 'active' and private.may_act(accounts))
          and not coalesce(accounts.status = 'suspended' and suspended_until < now(), false)`,
    plant: `insert into public.favorites (identity_id, property_id, counted)
      select owner_identity_id, id, not owner_active from public.properties limit 1
      on conflict (identity_id, property_id) do update set counted = not favorites.counted`,
  },
  {
    id: 'I-11',
    says: 'the unread count is the number of unread messages',
    sql: `select conversation_id as bad, identity_id
      from public.participants
      where unread <> (
        select count(*) from public.messages
        where messages.conversation_id = participants.conversation_id
          and sender_identity_id <> participants.identity_id
          and seq > participants.last_read_seq and hidden_at is null)`,
    plant: `${unguarded('public.participants')}
      update public.participants set unread = unread + 1
      where identity_id = (select identity_id from public.participants limit 1)`,
  },
  {
    id: 'I-11',
    says: 'nobody is shown more reading than there was',
    sql: `select conversation_id as bad, participants.identity_id
      from public.participants
      join public.participants as readers using (conversation_id)
      where readers.identity_id <> participants.identity_id
        and participants.peer_read_seq > readers.last_read_seq`,
    plant: `${unguarded('public.participants')}
      update public.participants set peer_read_seq = 1000000
      where identity_id = (select identity_id from public.participants limit 1)`,
  },
  {
    id: 'ORG-01',
    says: 'everybody sees a company or office while identity and account are in order',
    sql: `select o.identity_id as bad
      from public.organisations o
      join public.identities i on i.id = o.identity_id
      join public.accounts a on a.id = i.account_id
      where o.type <> i.type
        or o.listed <> (
          o.verified and i.status = 'active' and a.status = 'active' and a.delete_at is null
        )
        or o.active_listings_count <> (
          select count(*) from public.properties p where p.owner_identity_id = i.id and p.listed
        )`,
    plant: `with born as (select gen_random_uuid() as id), account as (
        insert into public.accounts (id, email)
        select id, id || '@example.com' from born returning id
      ), identity as (
        insert into public.identities (account_id, type, status, display_name)
        select id, 'office', 'active', 'مكتب' from account returning id
      )
      insert into public.organisations
        (identity_id, name_ar, slug, licence_no, licence_expires_on, active_listings_count)
      select id, 'مكتب', id, 'PLANTED', '2040-01-01', 1 from identity`,
  },
  {
    id: 'REV-01',
    says: 'averages and histograms are those of the reviews that are shown',
    sql: `select t.identity_id as bad
      from private.review_totals t
      where t.histogram is distinct from array(
          select count(r.id)::integer
          from generate_series(1, 5) as n
          left join public.reviews r
            on r.subject_identity_id = t.identity_id and r.listed and r.rating = n
          group by n order by n
        )
      union all
      select o.identity_id
      from public.organisations o
      left join lateral (
        select count(*) as count, round(avg(r.rating), 2) as average
        from public.reviews r where r.subject_identity_id = o.identity_id and r.listed
      ) as given on true
      where o.rating_count <> given.count or o.rating_count > 0 and o.rating_avg <> given.average`,
    plant: `insert into private.review_totals (identity_id, histogram)
      select identities.id, '{0,0,0,0,999}' from public.identities limit 1
      on conflict (identity_id) do update set histogram = excluded.histogram`,
  },
  {
    id: 'PR-18',
    says: 'the kept card of a listing is what would be made of it now',
    sql: `select properties.id as bad
        from public.properties
        left join private.property_cards on property_cards.property_id = properties.id
        where properties.listed
          and property_cards is distinct from private.property_card(properties)
      union all
      select properties.id
        from private.property_cards
        join public.properties on properties.id = property_cards.property_id
        where not properties.listed`,
    plant: `${unguarded('public.media')}
      update public.media set width = width + 1 where position = 0 and not pending`,
  },
  {
    id: 'PR-18',
    says: 'the owner of an active listing can be reached',
    sql: `select properties.id as bad from public.properties
        where properties.status = 'active' and (private.contact_of(properties)).ways = '{}'`,
    plant: `alter table public.properties disable trigger user;
      update public.properties set allow_call = false, allow_whatsapp = false, allow_chat = false
      where listed`,
  },
  {
    id: 'PR-18',
    says: 'the kept record of a listing is what would be made of it now',
    sql: `select properties.id as bad
        from public.properties
        cross join lateral private.listed_record(properties) as made
        left join private.listed_records on listed_records.property_id = properties.id
        where properties.listed and (
          to_jsonb(listed_records) - 'deal' is distinct from to_jsonb(made) - 'deal'
          or made.drop_until > now() and listed_records.deal <> made.deal
        )
      union all
      select properties.id
        from private.listed_records
        join public.properties on properties.id = listed_records.property_id
        where not properties.listed`,
    plant: `alter table public.properties disable trigger user;
      update public.properties set description_ar = 'changed' where listed`,
  },
]
