-- The demo data: 60 people, 8 companies, 12 offices, the account of an admin and 2,000 listings. Everything
-- is invented and, except for times, the same in every run. If the project already has accounts, the script
-- does nothing. All passwords are Diwaniya-2026; the identifiers are in local/demo/accounts.json.

do $seed$
declare
  moment timestamptz := now();
  password_hash text := extensions.crypt('Diwaniya-2026', extensions.gen_salt('bf', 10));
begin

if exists (select from public.accounts) then
  raise notice 'This project has accounts already, so the demo world was not added to it.';
  return;
end if;

create function pg_temp.chance(number integer, about text) returns double precision
  language sql immutable
  return ('x' || substr(md5(about || number), 1, 8))::bit(32)::bigint / 4294967296.0;

create function pg_temp.pick(choices text[], number integer, about text) returns text
  language sql immutable
  return choices[1 + floor(pg_temp.chance(number, about) * cardinality(choices))::integer];

create function pg_temp.demo_id(name text) returns uuid
  language sql immutable
  return overlay(overlay(md5('demo ' || name) placing '4' from 13) placing '8' from 17)::uuid;

create temporary table demo_people on commit drop as
select
  number,
  pg_temp.demo_id('person ' || number) as id,
  case
    when number % 3 = 0 then (array[
      'نورة', 'فاطمة', 'دلال', 'شيخة', 'منيرة', 'هيا', 'لطيفة', 'سارة', 'أمل', 'غنيمة', 'عائشة'
    ])[1 + number / 3 % 11]
    else (array[
      'أحمد', 'فهد', 'عبدالله', 'خالد', 'يوسف', 'ناصر', 'بدر', 'مشعل', 'فيصل', 'طلال', 'جاسم',
      'سالم', 'عبدالعزيز', 'نواف', 'حمد', 'علي', 'عبدالرحمن'
    ])[1 + number * 5 % 17]
  end || ' ' || (array[
    'العنزي', 'المطيري', 'العجمي', 'الرشيدي', 'الشمري', 'الظفيري', 'العتيبي', 'الهاجري', 'الدوسري',
    'الكندري', 'الفيلكاوي', 'الصالح', 'المنصور'
  ])[1 + number * 7 % 13] as full_name,
  case when number % 2 = 1 then '9655000' || lpad(number::text, 4, '0') end as phone,
  case when number % 2 = 0 then 'person' || lpad(number::text, 2, '0') || '@example.com' end
    as email,
  moment - interval '400 days' * pg_temp.chance(number, 'joined') - interval '61 days' as joined
from generate_series(1, 60) as number
union all
select
  0, pg_temp.demo_id('admin'), 'مشرف المنصة', null, 'admin@example.com',
  moment - interval '500 days';

insert into auth.users (
  instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, phone,
  phone_confirmed_at, confirmation_token, recovery_token, email_change_token_new, email_change,
  email_change_token_current, phone_change, phone_change_token, reauthentication_token,
  raw_app_meta_data, raw_user_meta_data, created_at, updated_at
)
select
  '00000000-0000-0000-0000-000000000000', id, 'authenticated', 'authenticated', email,
  password_hash, case when email is not null then joined end, phone,
  case when phone is not null then joined end, '', '', '', '', '', '', '', '',
  jsonb_build_object(
    'provider', case when email is null then 'phone' else 'email' end,
    'providers', jsonb_build_array(case when email is null then 'phone' else 'email' end)),
  jsonb_build_object('full_name', full_name), joined, joined
from demo_people;

insert into auth.identities
  (id, user_id, provider_id, provider, identity_data, created_at, updated_at)
select
  pg_temp.demo_id('sign-in ' || number), id, id,
  case when email is null then 'phone' else 'email' end,
  jsonb_strip_nulls(jsonb_build_object(
    'sub', id, 'email', email, 'phone', phone,
    'email_verified', email is not null, 'phone_verified', phone is not null)),
  joined, joined
from demo_people;

-- A trigger has created the accounts. Here they get ids and times that are the same in every run.
update public.accounts set active_identity_id = null, created_at = joined
from demo_people where demo_people.id = accounts.id;
update public.identities set id = pg_temp.demo_id('individual ' || number), created_at = joined
from demo_people where demo_people.id = identities.account_id;
update public.accounts set active_identity_id = pg_temp.demo_id('individual ' || number)
from demo_people where demo_people.id = accounts.id;
insert into public.admins (account_id) values (pg_temp.demo_id('admin'));

-- Companies belong to people 1 to 8, offices to people 9 to 20.
create temporary table demo_organisations on commit drop as
select
  pg_temp.demo_id('organisation ' || number) as id,
  case when number <= 8 then 'company' else 'office' end as type,
  number not in (8, 19, 20) as verified,
  organisations.*
from (values
  (1, 'شركة دانة الشمال العقارية', 'Danat Al-Shamal Real Estate', 'sharq'),
  (2, 'شركة بيوت الصفاة للتطوير العقاري', 'Buyoot Al-Safat Development', 'mirqab'),
  (3, 'شركة نخلة الخليج العقارية', 'Nakhlat Al-Khaleej Real Estate', 'salmiya'),
  (4, 'شركة أركان السيف للاستثمار العقاري', 'Arkan Al-Seef Investment', 'kuwait-city'),
  (5, 'شركة ضفاف الجون العقارية', 'Difaf Al-Joun Real Estate', 'hawalli'),
  (6, 'شركة واحة كاظمة للتطوير العقاري', 'Wahat Kazma Development', 'jahra'),
  (7, 'شركة مرافئ بوبيان العقارية', 'Marafi Boubyan Real Estate', 'farwaniya'),
  (8, 'شركة ربوع الفنطاس العقارية', 'Rubou Al-Fintas Real Estate', 'fintas'),
  (9, 'مكتب بوابة الشعب العقاري', 'Shaab Gate Realty', 'shaab'),
  (10, 'مكتب فنار السالمية العقاري', 'Salmiya Lighthouse Realty', 'salmiya'),
  (11, 'مكتب ركن الجابرية العقاري', 'Jabriya Corner Realty', 'jabriya'),
  (12, 'مكتب سدرة العقاري', 'Sidra Realty', 'mishref'),
  (13, 'مكتب خطوة الدار العقاري', 'Khutwat Al-Dar Realty', 'khaitan'),
  (14, 'مكتب مفتاح البيت العقاري', 'House Key Realty', 'sabah-al-salem'),
  (15, 'مكتب درب الأحمدي العقاري', 'Ahmadi Path Realty', 'ahmadi'),
  (16, 'مكتب نسيم الجهراء العقاري', 'Jahra Breeze Realty', 'jahra'),
  (17, 'مكتب شراع الفحيحيل العقاري', 'Fahaheel Sail Realty', 'fahaheel'),
  (18, 'مكتب ساحة المباركية العقاري', 'Mubarakiya Square Realty', 'qibla'),
  (19, 'مكتب غصن الزيتون العقاري', 'Olive Branch Realty', 'rumaithiya'),
  (20, 'مكتب شرفة حولي العقاري', 'Hawalli Balcony Realty', 'hawalli')
) as organisations (number, name_ar, name_en, area_id);

insert into public.identities (id, account_id, type, status, display_name, created_at)
select
  demo_organisations.id, demo_people.id, type,
  case when verified then 'active' else 'pending_verification' end, name_ar,
  case when verified then joined + interval '1 day' else moment - interval '2 days' end
from demo_organisations join demo_people using (number);

insert into public.organisations (
  identity_id, name_ar, name_en, slug, licence_no, licence_expires_on, about_ar, phone, whatsapp,
  email, governorate_id, area_id, address_ar, working_hours, verified, created_at
)
select
  demo_organisations.id, demo_organisations.name_ar, demo_organisations.name_en,
  lower(replace(demo_organisations.name_en, ' ', '-')),
  'DEMO/2026/' || lpad(number::text, 4, '0'), moment::date + 90 + number * 11,
  case demo_organisations.type
    when 'company' then
      'شركة كويتية تطور المشاريع السكنية والاستثمارية وتؤجرها وتديرها، ولديها فريق يتابع '
      || 'المستأجرين والمشترين بعد توقيع العقد.'
    else
      'مكتب عقاري مرخص يقدم خدمات البيع والإيجار والبدل، ويرافق العميل من المعاينة حتى توقيع العقد.'
  end,
  '+9652200' || lpad(number::text, 4, '0'),
  '+9655001' || lpad(number::text, 4, '0'),
  'office' || lpad(number::text, 2, '0') || '@example.com',
  areas.governorate_id, areas.id,
  'الدور ' || (array['الأول', 'الثاني', 'الثالث', 'الرابع', 'الخامس'])[1 + number % 5]
    || '، مكتب رقم ' || (number % 9 + 1),
  'من الأحد إلى الخميس، من 9 صباحاً إلى 6 مساءً', demo_organisations.verified, identities.created_at
from demo_organisations
join public.areas on areas.id = area_id
join public.identities on identities.id = demo_organisations.id;

-- Areas in groups of similar character, with a price level relative to an average area.
create temporary table demo_areas on commit drop as
select zone, level, area_id, ordinality as number, count(*) over (partition by zone) as of
from (values
  ('city', 1.5, 'kuwait-city sharq mirqab qibla dasman salhiya bneid-al-gar'),
  ('inner', 1.7, 'dasma daiya mansouriya abdullah-al-salem nuzha faiha shamiya rawda adailiya '
    || 'khaldiya kaifan qadsiya qortuba surra yarmouk shuwaikh'),
  ('middle', 1.25, 'shaab rumaithiya jabriya bayan mishref salwa mubarak-al-abdullah bidaa anjafa '
    || 'salam hitteen shuhada zahra siddiq messila masayel fnaitees abu-ftaira abu-al-hasaniya'),
  ('outer', 1.0, 'granada sulaibikhat doha nahda nw-sulaibikhat qairawan jaber-al-ahmad ardiya '
    || 'andalous firdous sabah-al-nasser rabiya omariya rehab ishbiliya abdullah-al-mubarak '
    || 'west-abdullah-al-mubarak south-abdullah-al-mubarak south-khaitan abraq-khaitan '
    || 'mubarak-al-kabeer sabah-al-salem adan qusour qurain wista egaila riqqa hadiya '
    || 'jaber-al-ali dhaher sabahiya fahad-al-ahmad ahmadi'),
  ('far', 0.7, 'ali-sabah-al-salem sabah-al-ahmad wafra-residential jahra naeem naseem oyoun qasr '
    || 'waha taima saad-al-abdullah mutlaa'),
  ('flats', 1.0, 'hawalli salmiya maidan-hawalli farwaniya khaitan jleeb riggae fahaheel mangaf '
    || 'abu-halifa mahboula fintas'),
  ('industry', 1.0, 'shuwaikh-industrial rai dajeej subhan amghara'),
  ('coast', 1.0, 'khairan sabah-al-ahmad-sea bnaider julaia zour nuwaiseeb mina-abdullah failaka'),
  ('farms', 1.0, 'wafra abdali sulaibiya'),
  ('desert', 1.0, 'kabd salmi subiya')
) as zones (zone, level, area_ids),
  unnest(string_to_array(area_ids, ' ')) with ordinality as area (area_id);

create temporary table demo_kinds on commit drop as
select * from (values
  ('apartment', 'f', '{واسعة,مجددة,هادئة,مرتبة}'::text[], array[
    'البناية نظيفة وحارسها مقيم، والأسواق والمواصلات قريبة.',
    'تناسب العائلات، وتدخلها الشمس معظم النهار.',
    'تشطيبها ممتاز، وصالتها تتسع لجلستين.'],
    '{elevator,central_ac,balcony,covered_parking,security,gym,pool,maid_room}'::text[]),
  ('floor', 'm', '{واسع,مستقل,مجدد}', array[
    'دور كامل بمدخل مستقل، والتوزيع عملي يناسب العائلات.',
    'يقع في شارع هادئ، وأمام البيت مواقف كافية.'],
    '{central_ac,diwaniya,maid_room,driver_room,balcony,covered_parking}'),
  ('house', 'm', '{واسع,مرمم,مميز}', array[
    'توزيعه مريح، وفيه ديوانية بمدخل مستقل.',
    'قريب من المسجد والجمعية والمدارس.',
    'شارعه هادئ، وحوشه يتسع لسيارتين.'],
    '{central_ac,diwaniya,maid_room,driver_room,garden,elevator,basement,covered_parking}'),
  ('villa', 'f', '{فاخرة,حديثة,واسعة}', array[
    'تصميمها حديث وتشطيبها راقٍ، وواجهتها من الحجر.',
    'موقعها مميز، وحولها خدمات متكاملة.',
    'صالاتها واسعة وسقوفها مرتفعة، ومطبخها مجهز.'],
    '{central_ac,diwaniya,maid_room,driver_room,garden,pool,elevator,basement,covered_parking}'),
  ('gov_house', 'm', '{مميز,مرمم,واسع}', array[
    'محافظ عليه، وأضيفت إليه توسعة مرخصة.',
    'يقع على شارع داخلي هادئ، وهو قريب من الخدمات.'],
    '{central_ac,diwaniya,maid_room,garden,covered_parking}'),
  ('residential_plot', 'f', '{مميزة,مستوية,جاهزة للبناء}', array[
    'الخدمات واصلة إليها، ويمكن البدء بالبناء فوراً.',
    'موقعها جيد وسط بيوت قائمة.'], '{}'),
  ('land', 'f', '{مميزة,مستوية,واسعة}', array[
    'موقعها حيوي يصلح لمشروع استثماري.',
    'أوراقها جاهزة للتحويل.'], '{}'),
  ('building', 'f', '{مميزة,نظيفة,حديثة}', array[
    'فيها أربعة طوابق ومواقف للسكان.',
    'حالتها جيدة وصيانتها منتظمة.'],
    '{elevator,central_ac,covered_parking,security,basement}'),
  ('investment_building', 'f', '{مميزة,حديثة,مؤجرة بالكامل}', array[
    'دخلها ثابت وموقعها مطلوب للإيجار.',
    'مساحات شققها متنوعة، ونسبة إشغالها عالية.'],
    '{elevator,central_ac,covered_parking,security,basement}'),
  ('commercial_complex', 'm', '{مميز,حديث,متكامل}', array[
    'يقع على شارع رئيسي، وفيه محلات ومكاتب.',
    'معروف في المنطقة، ومواقفه واسعة.'],
    '{elevator,central_ac,covered_parking,security,basement}'),
  ('chalet', 'm', '{عائلي,واسع,مطل على البحر}', array[
    'أمامه شاطئ رملي نظيف.',
    'مجهز للإقامة في نهاية الأسبوع، وحديقته واسعة.'],
    '{sea_view,pool,garden,central_ac,maid_room,driver_room}'),
  ('farm', 'f', '{منتجة,واسعة,مشجرة}', array[
    'فيها بئر وبيوت محمية ومخازن.',
    'فيها استراحة للعائلة وسكن للعمال.'], '{pool,garden,security,diwaniya}'),
  ('istiraha', 'f', '{عائلية,مجهزة,هادئة}', array[
    'مسوّرة، وفيها مجلس ومطبخ وجلسة خارجية.',
    'تناسب تجمعات العائلة في نهاية الأسبوع.'], '{pool,garden,diwaniya,central_ac}'),
  ('stable', 'm', '{واسع,مجهز,مرخص}', array[
    'فيه حظائر مظللة وغرفة للعامل.',
    'قريب من الطريق الرئيسي، والماء والكهرباء متوفران فيه.'], '{security,diwaniya}'),
  ('office', 'm', '{مجهز,واسع,مطل على الشارع}', array[
    'يقع في برج حديث، ومصاعده سريعة.',
    'جاهز للعمل، ومقسم إلى غرف زجاجية.'], '{elevator,central_ac,covered_parking,security}'),
  ('shop', 'm', '{واسع,مميز,على شارع رئيسي}', array[
    'واجهته زجاجية وشارعه حيوي.',
    'يصلح لمعظم الأنشطة التجارية.'], '{central_ac,security}'),
  ('showroom', 'm', '{واسع,حديث,على شارع رئيسي}', array[
    'واجهته عريضة وسقفه مرتفع، ويصلح للسيارات والأثاث.',
    'أمامه مواقف كثيرة، وهو ظاهر من الشارع الرئيسي.'], '{central_ac,security,covered_parking}'),
  ('warehouse', 'm', '{واسع,مكيف,مرخص}', array[
    'سقفه مرتفع ومدخله واسع للشاحنات.',
    'مطابق لاشتراطات الإطفاء.'], '{security}'),
  ('industrial_plot', 'f', '{واسعة,مرخصة,مميزة}', array[
    'فيها مبنى إداري صغير.',
    'يسهل دخول الشاحنات إليها، والكهرباء فيها كافية للمصانع الصغيرة.'], '{security}'),
  ('studio', 'm', '{هادئ,مرتب,جديد}', array[
    'يناسب شخصاً واحداً أو زوجين، وفيه مطبخ صغير.',
    'قريب من المواصلات والأسواق.'], '{elevator,central_ac,security,gym,balcony}'),
  ('annex', 'm', '{مستقل,هادئ,جديد}', array[
    'له مدخل مستقل وعداد كهرباء خاص.',
    'يناسب عائلة صغيرة، ومواقفه متوفرة.'], '{central_ac,covered_parking}'),
  ('basement', 'm', '{واسع,مكيف,جاف}', array[
    'تهويته جيدة وسقفه مرتفع.',
    'يصلح للتخزين أو لنشاط رياضي صغير.'], '{central_ac,security}'),
  ('camp', 'm', '{عائلي,واسع,مجهز بالكامل}', array[
    'فيه خيام ومولد كهرباء ودورات مياه.',
    'قريب من الطريق، وحوله مساحة مفتوحة.'], '{security}'),
  ('parking', 'm', '{مظلل,آمن,واسع}', array[
    'يقع داخل البناية قرب المصعد.',
    'الدخول إليه بالبطاقة طوال اليوم.'], '{security,covered_parking}')
) as kinds (kind, gender, adjectives, remarks, amenities);

-- Number, area, size (m²: l for land, b for built), price and rooms of each kind.
create temporary table demo_offers on commit drop as
select
  row_number() over (order by pg_temp.chance(nth, offers.kind || type), offers.kind, type)::integer
    as number,
  nth, offers.*
from (values
  ('apartment', 'RENT', 330, 'flats city middle outer', 'investment',
    'b', 70, 210, 210, 600, 10, 1, 4),
  ('floor', 'RENT', 110, 'inner middle outer far', 'residential_private',
    'b', 250, 450, 400, 900, 25, 3, 6),
  ('house', 'RENT', 40, 'middle outer far', 'residential_private',
    'l', 300, 600, 750, 1500, 50, 4, 7),
  ('villa', 'RENT', 35, 'inner middle', 'residential_private', 'l', 400, 900, 1100, 2600, 50, 5, 8),
  ('building', 'RENT', 12, 'flats outer', 'investment',
    'l', 500, 1000, 4500, 14000, 250, null, null),
  ('commercial_complex', 'RENT', 8, 'city flats', 'commercial',
    'l', 1000, 3000, 12000, 45000, 500, null, null),
  ('chalet', 'RENT', 40, 'coast', 'coastal', 'l', 400, 1000, 500, 2500, 50, 3, 6),
  ('farm', 'RENT', 14, 'farms', 'agricultural', 'l', 10000, 50000, 350, 1500, 50, 2, 5),
  ('istiraha', 'RENT', 30, 'farms desert', 'agricultural', 'l', 1000, 5000, 250, 900, 25, 2, 5),
  ('stable', 'RENT', 20, 'farms desert', 'agricultural', 'l', 500, 2500, 150, 500, 10, null, null),
  ('office', 'RENT', 70, 'city flats', 'commercial', 'b', 40, 350, 280, 2200, 20, null, null),
  ('shop', 'RENT', 65, 'city flats outer industry', 'commercial',
    'b', 25, 200, 300, 2600, 25, null, null),
  ('showroom', 'RENT', 25, 'industry', 'commercial', 'b', 200, 1000, 1500, 8000, 100, null, null),
  ('warehouse', 'RENT', 45, 'industry', 'industrial', 'b', 200, 2000, 700, 6500, 50, null, null),
  ('industrial_plot', 'RENT', 12, 'industry', 'industrial',
    'l', 500, 2500, 2000, 8000, 100, null, null),
  ('studio', 'RENT', 60, 'flats city', 'investment', 'b', 28, 55, 150, 260, 5, 0, 0),
  ('annex', 'RENT', 40, 'inner middle outer', 'residential_private',
    'b', 40, 110, 160, 330, 10, 1, 2),
  ('basement', 'RENT', 25, 'inner middle flats', 'residential_private',
    'b', 100, 500, 150, 800, 10, null, null),
  ('camp', 'RENT', 18, 'desert', null, 'l', 1000, 5000, 300, 1500, 50, null, null),
  ('parking', 'RENT', 15, 'city flats', 'investment', 'b', 12, 18, 15, 45, 5, null, null),
  ('apartment', 'SALE', 150, 'flats city outer', 'investment',
    'b', 60, 200, 55000, 180000, 1000, 1, 4),
  ('floor', 'SALE', 60, 'inner middle outer', 'residential_private',
    'b', 280, 450, 170000, 260000, 5000, 3, 6),
  ('house', 'SALE', 160, 'inner middle outer far', 'residential_private',
    'l', 300, 750, 230000, 480000, 5000, 4, 8),
  ('villa', 'SALE', 110, 'inner middle', 'residential_private',
    'l', 400, 1000, 320000, 750000, 5000, 5, 9),
  ('gov_house', 'SALE', 45, 'outer far', 'residential_private',
    'l', 300, 600, 190000, 320000, 5000, 4, 6),
  ('residential_plot', 'SALE', 90, 'middle outer far', 'residential_private',
    'l', 375, 1000, 160000, 420000, 5000, null, null),
  ('land', 'SALE', 40, 'flats city industry', 'investment',
    'l', 500, 2000, 600000, 3000000, 50000, null, null),
  ('building', 'SALE', 25, 'flats outer', 'investment',
    'l', 400, 1000, 800000, 2500000, 25000, null, null),
  ('investment_building', 'SALE', 25, 'flats', 'investment',
    'l', 500, 1200, 1100000, 4500000, 50000, null, null),
  ('commercial_complex', 'SALE', 8, 'city flats', 'commercial',
    'l', 1000, 4000, 4000000, 14000000, 250000, null, null),
  ('chalet', 'SALE', 45, 'coast', 'coastal', 'l', 400, 1200, 150000, 650000, 5000, 3, 7),
  ('farm', 'SALE', 25, 'farms', 'agricultural', 'l', 20000, 100000, 90000, 420000, 5000, 2, 6),
  ('istiraha', 'SALE', 15, 'farms desert', 'agricultural',
    'l', 1000, 5000, 50000, 170000, 5000, 2, 5),
  ('stable', 'SALE', 20, 'farms desert', 'agricultural',
    'l', 500, 2500, 35000, 120000, 1000, null, null),
  ('office', 'SALE', 25, 'city flats', 'commercial', 'b', 50, 300, 90000, 520000, 5000, null, null),
  ('shop', 'SALE', 25, 'city flats', 'commercial', 'b', 30, 150, 100000, 550000, 5000, null, null),
  ('warehouse', 'SALE', 15, 'industry', 'industrial',
    'b', 500, 2000, 250000, 900000, 10000, null, null),
  ('industrial_plot', 'SALE', 15, 'industry', 'industrial',
    'l', 1000, 5000, 450000, 1800000, 25000, null, null),
  ('house', 'EXCHANGE', 30, 'middle outer far', 'residential_private',
    'l', 300, 600, 230000, 450000, 5000, 4, 8),
  ('villa', 'EXCHANGE', 5, 'middle', 'residential_private',
    'l', 400, 800, 320000, 600000, 5000, 5, 8),
  ('gov_house', 'EXCHANGE', 35, 'outer far', 'residential_private',
    'l', 300, 600, 190000, 320000, 5000, 4, 6),
  ('residential_plot', 'EXCHANGE', 12, 'outer far', 'residential_private',
    'l', 375, 600, 160000, 300000, 5000, null, null),
  ('land', 'EXCHANGE', 3, 'industry', 'investment',
    'l', 500, 1500, 600000, 1500000, 50000, null, null),
  ('farm', 'EXCHANGE', 3, 'farms', 'agricultural', 'l', 20000, 60000, 90000, 300000, 5000, 2, 5)
) as offers (
  kind, type, share, zones, usage, measure, size_from, size_to, price_from, price_to, step,
  rooms_from, rooms_to
), generate_series(1, share) as nth;

create temporary table demo_facts on commit drop as
select
  offer.*,
  place.area_id, place.level, place.zone,
  kinds.gender, kinds.adjectives, kinds.remarks, kinds.amenities as possible_amenities,
  round((size_from + (size_to - size_from) * chance.size)::numeric / rounding) * rounding as size,
  greatest(step, round((
    (price_from + (price_to - price_from) * power(0.65 * chance.size + 0.35 * chance.luck, 1.3))
    * power(level::float8, case type when 'RENT' then 0.6 else 1 end)
  )::numeric / step) * step) as price,
  rooms_from
    + floor((rooms_to - rooms_from + 0.99) * (0.6 * chance.size + 0.4 * chance.luck))::integer
    as rooms,
  case
    when type = 'EXCHANGE' then 'individual'
    when chance.owner < 0.16 then 'individual'
    when chance.owner < 0.53 then 'office'
    else 'company'
  end as owner_type,
  moment - interval '60 days' * power(pg_temp.chance(number, 'published'), 1.4)
    - interval '10 minutes' as published_at
from demo_offers as offer
join demo_kinds as kinds using (kind)
cross join lateral (
  select
    pg_temp.chance(number, 'size') as size,
    pg_temp.chance(number, 'luck') as luck,
    pg_temp.chance(number, 'owner') as owner,
    case
      when size_to > 5000 then 500 when size_to > 1000 then 50 when size_to > 60 then 5 else 1
    end as rounding
) as chance
cross join lateral (
  select areas.area_id, areas.level, areas.zone,
         row_number() over (order by areas.zone, areas.number) as nth, count(*) over () as of
  from demo_areas as areas
  where areas.zone = any (string_to_array(zones, ' '))
) as place
where place.nth = 1 + (offer.nth * 7 + 3 * length(offer.type)) % place.of;

-- People have a few listings (beyond their limit of five, the listings have ended); companies and offices
-- have many.
create temporary table demo_owned on commit drop as
select
  facts.*,
  case owner_type
    when 'individual' then pg_temp.demo_id('individual ' || 1 + turn % 60)
    when 'company' then pg_temp.demo_id('organisation ' || 1 + turn % 7)
    else pg_temp.demo_id('organisation ' || 9 + turn % 10)
  end as owner_identity_id,
  case
    when owner_type = 'individual' and turn >= 300 or owner_type <> 'individual' and fate < 0.1
    then (case type
      when 'SALE' then '{sold,sold,expired,paused,draft,archived}'::text[]
      when 'RENT' then '{rented,rented,expired,paused,draft,archived}'
      else '{exchanged,exchanged,expired,paused,draft,exchanged}'
    end)[1 + floor(pg_temp.chance(number, 'end') * 5.99)::integer]
    else 'active'
  end as status
from (
  select
    demo_facts.*,
    row_number() over (partition by owner_type order by number)::integer - 1 as turn,
    pg_temp.chance(number, 'fate') as fate
  from demo_facts
) as facts;

create temporary table demo_words on commit drop as
select
  owned.number,
  case
    when rooms between 1 and 6 and kind in ('apartment', 'floor', 'annex') and style < 0.25 then
      name || ' ' || rooms_of || ' وصالة ' || purpose || ' ' || place
    when style < 0.45 then purpose || ' ' || name || ' ' || place || ' قطعة ' || block
    when style < 0.6 then name || ' ' || size || ' م² ' || purpose || ' ' || place
    when style < 0.85 then
      concat_ws(' ', name, pg_temp.pick(adjectives, owned.number, 'adjective'), purpose, place)
    else name || ' ' || purpose || ' ' || place
  end as title_ar,
  initcap(left(kind_word.text_en, 1)) || substr(kind_word.text_en, 2) || ' for ' ||
    case type when 'SALE' then 'sale' when 'RENT' then 'rent' else 'exchange' end ||
    ' in ' || area.name_en as title_en,
  concat_ws(' ',
    name || ' ' || purpose || ' ' || place || '، قطعة ' || block || '، المساحة ' || size || ' م².',
    case when rooms is not null and baths is not null then
      case gender when 'f' then 'تتكون من ' else 'يتكون من ' end || bedrooms_of || ' و' || baths_of
      || case when kind in ('farm', 'istiraha', 'chalet') then ' ومجلس' else ' وصالة' end
      || ' ومطبخ.'
    end,
    pg_temp.pick(remarks, owned.number, 'remark'),
    case when type = 'EXCHANGE' then
      'المطلوب البدل مع ' || name || ' في ' || wanted_area.name_ar
      || '، مع تسوية فرق السعر إن وجد.'
    end,
    case when is_negotiable then
      case type when 'RENT' then 'الإيجار قابل للتفاوض.' else 'السعر قابل للتفاوض.' end
    end,
    case when is_direct then 'من المالك مباشرة دون وسيط.' end
  ) as description_ar,
  block, baths, is_negotiable, is_direct, wanted_area.id as wanted_area_id, area.governorate_id,
  area.lat, area.lng
from demo_owned as owned
join public.areas as area on area.id = owned.area_id
join public.vocabularies as kind_word on (kind_word.vocabulary, kind_word.code) = ('kind', kind)
cross join lateral (
  select
    kind_word.text_ar as name,
    case type when 'SALE' then 'للبيع' when 'RENT' then 'للإيجار' else 'للبدل' end as purpose,
    case owned.area_id when 'sharq' then 'في منطقة ' else 'في ' end || area.name_ar as place,
    1 + floor(pg_temp.chance(owned.number, 'block') * 9)::integer as block,
    pg_temp.chance(owned.number, 'style') as style,
    case when rooms is not null then
      greatest(1, rooms - 1 + floor(pg_temp.chance(owned.number, 'baths') * 2)::integer)
    end as baths,
    type <> 'EXCHANGE' and pg_temp.chance(owned.number, 'negotiable') < 0.45 as is_negotiable,
    owner_type = 'individual' and pg_temp.chance(owned.number, 'direct') < 0.8 as is_direct,
    (array['غرفة', 'غرفتين', 'ثلاث غرف', 'أربع غرف', 'خمس غرف', 'ست غرف'])[rooms] as rooms_of,
    (array['غرفة نوم واحدة', 'غرفتي نوم', 'ثلاث غرف نوم', 'أربع غرف نوم', 'خمس غرف نوم',
      'ست غرف نوم', 'سبع غرف نوم', 'ثماني غرف نوم', 'تسع غرف نوم'])[rooms] as bedrooms_of
) as parts
cross join lateral (
  select (array['حمام واحد', 'حمامين', 'ثلاثة حمامات', 'أربعة حمامات', 'خمسة حمامات',
    'ستة حمامات', 'سبعة حمامات', 'ثمانية حمامات', 'تسعة حمامات'])[baths] as baths_of
) as wet
cross join lateral (
  select areas.id, areas.name_ar from demo_areas
  join public.areas on areas.id = demo_areas.area_id
  where areas.id <> owned.area_id and demo_areas.zone =
    case when owned.zones in ('farms', 'industry') then owned.zones else 'outer' end
  order by pg_temp.chance(owned.number, 'wanted ' || areas.id)
  limit 1
) as wanted_area;

-- Like real listings, some contain mistakes: the floor is only in the text, the kind is wrong, or the text
-- lists kinds and places that are not offered.
update demo_words
set title_ar = regexp_replace(title_ar, '\mدور', 'دور ' || said.floor),
    description_ar = regexp_replace(description_ar, '\mدور', 'دور ' || said.floor)
from demo_owned
cross join lateral (
  select (array['أرضي', 'أول', 'ثاني'])[1 + demo_owned.number % 3] as floor
) as said
where demo_words.number = demo_owned.number and kind = 'floor' and demo_owned.number % 2 = 0;
update demo_owned set kind = case kind when 'house' then 'floor' else 'land' end
where kind in ('house', 'residential_plot') and type = 'SALE' and number % 9 = 0;
update demo_words
set description_ar = description_ar || ' ولدينا شقق وبيوت وفلل وأراضي ومحلات للبيع والإيجار في '
  || 'السالمية، حولي، الجابرية، سلوى، الفروانية، خيطان، المهبولة، المنقف، صباح السالم والجهراء.'
where number % 40 = 0;

insert into public.properties (
  id, owner_identity_id, owner_type, type, status, kind, usage, title_ar, title_en, description_ar,
  price, is_negotiable, property_income, request_year, required_year, wanted_kinds,
  wanted_area_ids, rent_conditions, additional_expenses, land_area_m2, built_area_m2, bedrooms,
  bathrooms, floor_no, building_year, furnished, plot_position, finishing, amenities,
  document_type, is_direct, governorate_id, area_id, block, street, lat, lng, location_precision,
  allow_whatsapp, created_at, published_at, confirmed_at, expires_at
)
select
  pg_temp.demo_id('property ' || number), owner_identity_id, owner_type, type,
  case status when 'draft' then 'draft' else 'active' end, kind, usage, title_ar,
  case when pg_temp.chance(number, 'english') < 0.4 then title_en end, description_ar,
  case when type <> 'EXCHANGE' or pg_temp.chance(number, 'priced') < 0.4 then price end,
  is_negotiable,
  case when type = 'SALE' and kind in ('building', 'investment_building', 'commercial_complex')
    then case when pg_temp.chance(number, 'income') < 0.1 then 0
      else round(price * 0.065 / 12 / 50) * 50 end
  end,
  case when type = 'EXCHANGE' then 1988 + floor(pg_temp.chance(number, 'request') * 30) end,
  case when type = 'EXCHANGE' then 1988 + floor(pg_temp.chance(number, 'required') * 30) end,
  case when type = 'EXCHANGE' then array[kind] else '{}' end,
  case when type = 'EXCHANGE' then array[wanted_area_id] else '{}' end,
  case when type = 'RENT' and rooms is not null then conditions else '[]' end,
  case when type = 'RENT' and rooms is not null then expenses else '[]' end,
  case when measure = 'l' then size end,
  case
    when measure = 'b' then size
    when kind in ('house', 'villa', 'gov_house', 'chalet', 'building', 'investment_building')
    then round(size * (0.8 + pg_temp.chance(number, 'built')::numeric) / 10) * 10
  end,
  rooms, baths,
  case when kind in ('apartment', 'studio', 'office')
    then 1 + floor(pg_temp.chance(number, 'floor') * case
      -- Only the city and areas with investment buildings have high floors.
      when zone in ('city', 'flats') then 14 else 3
    end) end,
  case when usage is not null and kind not in ('residential_plot', 'land', 'farm', 'parking')
    then extract(year from moment) - case
      -- The year has to fit the title: an old building if it says "renovated", a recent one if it says "new".
      when title_ar ~ 'مجدد|مرمم' then 12 + floor(pg_temp.chance(number, 'year') * 23)
      when title_ar ~ 'حديث|جديد' then floor(pg_temp.chance(number, 'year') * 6)
      else floor(pg_temp.chance(number, 'year') * 35)
    end end,
  case when kind in ('apartment', 'studio', 'annex', 'chalet')
    then pg_temp.pick('{none,none,partial,full}', number, 'furnished') end,
  case when measure = 'l' and kind <> 'camp' then pg_temp.pick(
    '{one_street,one_street,corner,two_streets,front_back,street_alley,head_three_sides,on_square}',
    number, 'position') end,
  case when kind in ('apartment', 'floor', 'house', 'villa', 'building')
    then pg_temp.pick('{normal,normal,deluxe,super_deluxe}', number, 'finishing') end,
  array(
    select amenity from unnest(possible_amenities) as amenity
    where pg_temp.chance(number, amenity) < 0.4
  ),
  case
    when type = 'RENT' then null
    when kind = 'gov_house' then pg_temp.pick('{government,credit_bank}', number, 'document')
    when usage in ('industrial', 'agricultural') then 'usufruct'
    else 'free_deed'
  end,
  is_direct, governorate_id, area_id, block::text,
  'شارع ' || (100 + floor(pg_temp.chance(number, 'street') * 20)),
  case when has_pin
    then round((lat + (pg_temp.chance(number, 'lat') - 0.5) * 0.012)::numeric, 6) end,
  case when has_pin
    then round((lng + (pg_temp.chance(number, 'lng') - 0.5) * 0.012)::numeric, 6) end,
  case when has_pin
    then pg_temp.pick('{block,block,block,area,exact}', number, 'precision') end,
  pg_temp.chance(number, 'whatsapp') < 0.9,
  published_at - interval '2 hours' * pg_temp.chance(number, 'created'),
  case status when 'draft' then null else published_at end,
  case status when 'draft' then null else confirmed.at end,
  case status when 'draft' then null else confirmed.at + interval '30 days' end
from demo_owned
join demo_words using (number)
cross join lateral (
  select greatest(
    published_at, moment - interval '25 days' * pg_temp.chance(number, 'confirmed')) as at
) as confirmed
cross join lateral (
  -- Some owners never place a pin.
  select lat is not null and pg_temp.chance(number, 'pin') < 0.92 as has_pin
) as placed
cross join lateral (
  select
    jsonb_build_array(
      case when pg_temp.chance(number, 'who') < 0.7
        then '{"code":"families_only","textAr":"للعائلات فقط"}'::jsonb
        else '{"code":"payment_by_cheque","textAr":"الدفع بالشيكات"}' end,
      case when pg_temp.chance(number, 'deposit') < 0.5
        then '{"code":"deposit_months","textAr":"تأمين شهر واحد"}'::jsonb
        else '{"code":"min_contract_months","textAr":"أقل مدة للعقد سنة"}' end
    ) as conditions,
    jsonb_build_array(
      jsonb_build_object('code', 'electricity_water', 'labelAr', 'كهرباء وماء',
        'amount', 10 + 5 * floor(pg_temp.chance(number, 'water') * 5), 'period', 'month'),
      jsonb_build_object('code', 'commission', 'labelAr', 'عمولة المكتب',
        'amount', round(price / 2), 'period', 'once')
    ) - case owner_type when 'office' then 9 else 1 end as expenses
) as terms
order by demo_owned.published_at, number;

insert into private.property_counters (property_id, views)
select pg_temp.demo_id('property ' || number),
  floor(5 + 400 * power(pg_temp.chance(number, 'views'), 3))
from demo_owned;

-- Some of the listings have ended.
update public.properties
set status = demo_owned.status,
    closed_at = case when demo_owned.status in ('sold', 'rented', 'exchanged') then ended.at end,
    paused_at = case when demo_owned.status = 'paused' then ended.at end,
    expires_at =
      case when demo_owned.status = 'expired' then ended.at else properties.expires_at end
from demo_owned
cross join lateral (
  select moment - (moment - demo_owned.published_at) * 0.6 * pg_temp.chance(number, 'ended') as at
) as ended
where properties.id = pg_temp.demo_id('property ' || number)
  and demo_owned.status not in ('active', 'draft');

-- Half of the price changes are drops that make the listing a deal; the other half are slight increases.
create temporary table demo_changes on commit drop as
select
  properties.id,
  case
    when turn % 2 = 0
      then floor(properties.price * (0.94 - 0.12 * pg_temp.chance(number, 'drop'))::numeric / step)
    else ceil(properties.price * 1.02 / step)
  end * step as price,
  moment - least(interval '12 days', (moment - properties.published_at) * 0.8)
    * pg_temp.chance(number, 'changed') as changed_at
from (
  select number, step, row_number() over (order by pg_temp.chance(number, 'price')) as turn
  from demo_owned
  where status = 'active' and type <> 'EXCHANGE'
) as chosen
join public.properties on properties.id = pg_temp.demo_id('property ' || number)
where turn <= 130;

update public.properties set price = demo_changes.price
from demo_changes where demo_changes.id = properties.id;
update public.price_history set changed_at = demo_changes.changed_at
from demo_changes
where price_history.property_id = demo_changes.id
  and price_history.changed_at > demo_changes.changed_at;

-- Every third auction is running; the others start in the future.
insert into public.auctions
  (property_id, starts_at, ends_at, start_price, min_increment, created_at)
select
  properties.id, starts.at, starts.at + interval '1 day' * (2 + turn % 5),
  round(properties.price * 0.8 / 1000) * 1000,
  greatest(100, round(properties.price / 100000) * 500),
  greatest(properties.published_at, starts.at - interval '5 days')
from (
  select number, row_number() over (order by pg_temp.chance(number, 'auction')) as turn
  from demo_owned
  where status = 'active' and type = 'SALE' and owner_type <> 'office'
    and published_at < moment - interval '3 days'
    and kind in ('house', 'villa', 'land', 'residential_plot', 'building', 'chalet', 'apartment')
) as chosen
join public.properties on properties.id = pg_temp.demo_id('property ' || number)
cross join lateral (
  select case when turn % 3 = 0 then moment - interval '1 hour' * (1 + turn)
    else moment + interval '5 hours' * turn end as at
) as starts
where turn <= 36 and properties.id not in (select demo_changes.id from demo_changes);

-- Companies, offices and people with more listings than the free plan allows get a paid plan.
insert into public.subscriptions (identity_id, plan_id, starts_at, ends_at, pay_with)
select
  identities.id, plans.id, moment - interval '10 days',
  moment + interval '1 day' * (20 + floor(300 * pg_temp.chance(owner.active::integer, 'plan'))),
  'invoice'
from (
  select owner_identity_id, count(*) filter (where status = 'active') as active
  from public.properties group by owner_identity_id
) as owner
join public.identities on identities.id = owner.owner_identity_id
join public.plans on plans.code = case identities.type when 'individual' then 'plus'
  else identities.type end
where identities.type <> 'individual' or owner.active > 5;
perform private.pause_over_quota(identities.id) from public.identities;

insert into public.favorites (identity_id, property_id, created_at)
select identities.id, properties.id,
       moment - (moment - properties.published_at) * pg_temp.chance(demo_owned.number, 'saved')
from demo_people
join public.identities on identities.account_id = demo_people.id and identities.type = 'individual'
join demo_owned on demo_owned.status = 'active'
  and pg_temp.chance(demo_owned.number, 'saved by ' || demo_people.number) < 0.006
join public.properties on properties.id = pg_temp.demo_id('property ' || demo_owned.number)
where demo_people.number > 0
  and properties.owner_identity_id not in (
    select own.id from public.identities as own where own.account_id = demo_people.id
  );

drop function pg_temp.chance, pg_temp.pick, pg_temp.demo_id;

end
$seed$;
