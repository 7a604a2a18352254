-- The kinds of notification: which preferences rule each, which screen it opens, and which stand in
-- the list whatever the preferences say: who may sign in, what an admin has closed, what is to
-- be accepted, what concerns administrators.

create view private.notification_kinds with (security_invoker = true) as
select kinds.*, private.collapses(kinds.kind) as collapses from (values
  ('message_new', 'messages', 'conversation', false),
  ('lead_new', 'leads', 'leads', false),
  ('favorite_price_drop', 'favorites', 'property', false),
  ('favorite_unavailable', 'favorites', 'favorites', false),
  ('listing_expiring', 'listings', 'my_property', false),
  ('listing_approved', 'listings', 'my_property', false),
  ('listing_rejected', 'listings', 'my_property', false),
  ('listing_suspended', 'listings', 'my_property', true),
  ('listing_restored', 'listings', 'my_property', true),
  ('review_new', 'reviews', 'review', false),
  ('invoice_paid', 'billing', 'invoice', false),
  ('invoice_failed', 'billing', 'invoice', false),
  ('refund', 'billing', 'invoice', false),
  ('plan_expiring', 'billing', 'plan', false),
  ('identity_verified', 'account', 'identity', false),
  ('identity_rejected', 'account', 'identity', false),
  ('identity_suspended', 'account', 'identity', true),
  ('identity_restored', 'account', 'identity', true),
  ('security_login', 'account', 'sessions', false),
  ('security_password', 'account', 'sessions', true),
  ('security_provider', 'account', 'sessions', true),
  ('security_contact', 'account', 'sessions', true),
  ('terms_new', 'account', 'terms', true),
  ('admin_event', 'account', 'notifications', true),
  ('system', 'account', 'notifications', false)
) as kinds (kind, category, route, always_listed);
comment on view private.notification_kinds is
  'Every kind of notification: the category of its preferences (vocabulary notification_category), '
  'the screen that it opens, whether it is in the list where that category is off, whether events of '
  'one thing make one unread notification.';
