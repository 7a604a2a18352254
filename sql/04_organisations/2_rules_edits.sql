-- What an admin may change of companies and offices by hand: 01_base/2_rules_edits.sql.

create trigger organisations_show_their_name
  after update of name_ar on public.organisations
  for each row when (new.name_ar <> old.name_ar)
  execute function private.sync_display_name();
-- An identity that waits, was refused or is over is made good by its own status.
create trigger organisations_are_verified_by_their_identity
  before update of verified on public.organisations
  for each row when (new.verified and not old.verified and not new.active)
  execute function private.refuse_edit(
    'To verify a company or office, set identities.status to active: its page follows.');
