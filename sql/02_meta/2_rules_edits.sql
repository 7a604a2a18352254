-- What an admin may change of words and places by hand: 01_base/2_rules_edits.sql.

create trigger vocabularies_keep_what_was_edited
  before update on public.vocabularies
  for each row execute function private.keep_edits();
create trigger governorates_keep_what_was_edited
  before update on public.governorates
  for each row execute function private.keep_edits();
create trigger areas_keep_what_was_edited
  before update on public.areas
  for each row execute function private.keep_edits();

create trigger vocabularies_of_functions_are_theirs
  before insert on public.vocabularies
  for each row when (new.vocabulary not in (
    'kind', 'usage', 'plot_position', 'finishing', 'furnished', 'document_type', 'amenity',
    'rent_condition', 'expense', 'report_reason'
  ))
  execute function private.refuse_edit(
    'Functions know the codes of this vocabulary one by one: no other means anything.');
