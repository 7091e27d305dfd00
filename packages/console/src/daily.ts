/** The pages that people open most, and the edit of a row. They are loaded together with the program; see `index.html`. */
export { DashboardsPage } from './dashboard/dashboard-page.tsx'
export { EntityPage } from './entity/entity-page.tsx'
export { HomePage } from './home/home-page.tsx'
export { EditRow } from './list/table/edit-row.tsx'
