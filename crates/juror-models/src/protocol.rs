//! What the providers' protocols have in common.

use serde::Serialize;

use crate::adapt::{Adaptation, Habits};
use crate::conversation::{Conversation, TurnReply};
use crate::http::HttpEndpoint;
use crate::model::{ChatModel, ChatRequest, ModelError, ModelReply, Pending};

/// What a provider says, or why it says nothing.
pub(crate) type Reply<T> = Result<T, ModelError>;

/// A provider's chat protocol: how to ask once, given what is known about the model. Asking again
/// without what the model refused is the same for all of them.
pub(crate) trait ChatProtocol: Send + Sync {
    fn endpoint(&self) -> &HttpEndpoint;

    fn adaptation(&self) -> &Adaptation;

    /// Sends a chat request once.
    fn chat_once(
        &self,
        request: &ChatRequest,
        habits: Habits,
    ) -> impl Future<Output = Reply<ModelReply>> + Send;

    /// Asks for the next turn of a conversation once.
    fn converse_once(
        &self,
        talk: &Conversation,
        habits: Habits,
    ) -> impl Future<Output = Reply<TurnReply>> + Send;
}

impl<P: ChatProtocol> ChatModel for P {
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Pending<'a, Result<ModelReply, ModelError>> {
        let ask = |habits| self.chat_once(request, habits);
        let has_shape = request.schema.is_some();
        Box::pin(self.adaptation().until_taken(self.endpoint(), has_shape, ask))
    }

    fn converse<'a>(
        &'a self,
        talk: &'a Conversation,
    ) -> Pending<'a, Result<TurnReply, ModelError>> {
        let ask = |habits| self.converse_once(talk, habits);
        Box::pin(self.adaptation().until_taken(self.endpoint(), false, ask))
    }
}

/// Puts the next turn of a conversation together, from a whole reply or from events of a stream.
pub(crate) trait TurnReader: Default + Send {
    /// Reads a whole reply.
    fn take_whole(&mut self, text: &str) -> Result<(), ModelError>;

    /// Reads the data of an event.
    fn take_event(&mut self, data: &str) -> Result<(), ModelError>;

    /// Returns the turn, once all of it was read.
    fn finish(self, talk: &Conversation) -> Result<TurnReply, ModelError>;
}

/// Where a request is sent, and whether its reply is streamed.
pub(crate) struct PostTarget<'u> {
    pub(crate) url: &'u str,
    pub(crate) is_streamed: bool,
}

/// Posts the body of a conversation and reads the next turn.
pub(crate) async fn post_conversation<R: TurnReader>(
    endpoint: &HttpEndpoint,
    target: PostTarget<'_>,
    body: &(impl Serialize + Sync),
    talk: &Conversation,
) -> Result<TurnReply, ModelError> {
    let mut reply = R::default();
    if target.is_streamed {
        endpoint.post_for_events(target.url, body, |data| reply.take_event(data)).await?;
    } else {
        reply.take_whole(&endpoint.post_for_text(target.url, body).await?)?;
    }
    reply.finish(talk)
}
